"""LDAP through python-ldap. people=N, writes=SHARE (half of them modify a person, half add a
device), size=N (bytes of a description)."""
import os
import random
import ldap
import ldap.modlist

BASE = "dc=example,dc=com"


class Client:
    def __init__(self, to, options, timeout):
        self.people, self.writes = int(options.get("people", "1")), float(options.get("writes", "0"))
        self.text = os.urandom(max(1, int(options.get("size", "100")) // 2)).hex().encode()
        self.connection = ldap.initialize("ldap://" + to)
        self.connection.set_option(ldap.OPT_NETWORK_TIMEOUT, timeout)
        self.connection.set_option(ldap.OPT_TIMEOUT, timeout)
        self.connection.simple_bind_s("cn=admin," + BASE, "secret")

    def ask(self):
        person = random.randrange(self.people)
        if random.random() >= self.writes:
            found = self.connection.search_s("ou=people," + BASE, ldap.SCOPE_ONELEVEL, "(mail=user%d@example.com)" % person, ["cn", "description"])
            if len(found) != 1:
                raise Exception("%d entries" % len(found))
        elif random.random() < 0.5:
            self.connection.modify_s("uid=user%d,ou=people,%s" % (person, BASE), [(ldap.MOD_REPLACE, "description", [self.text])])
        else:
            self.add(self.text)

    def add(self, text):
        name = os.urandom(8).hex()
        entry = {"objectClass": [b"device"], "cn": [name.encode()], "description": [text]}
        self.connection.add_s("cn=%s,ou=devices,%s" % (name, BASE), ldap.modlist.addModlist(entry))

    def do(self, statement):
        """search FILTER: asks for all people that match; import: adds devices until there is
        no room for more."""
        word = statement.split(" ", 1)
        if word[0] == "search":
            self.connection.search_s("ou=people," + BASE, ldap.SCOPE_ONELEVEL, word[1], ["cn"])
        for size in (100_000, 10_000, 100) if word[0] == "import" else ():
            try:
                while True:
                    self.add(b"x" * size)
            except ldap.OTHER:
                pass

    def close(self):
        self.connection.unbind_s()
