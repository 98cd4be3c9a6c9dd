"""memcached through pymemcache. keys=N, writes=SHARE, size=N (bytes of a value)."""
import random
from pymemcache.client.base import Client as Memcache


class Client:
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        self.keys, self.writes = int(options.get("keys", "100")), float(options.get("writes", "0"))
        self.value = b"x" * int(options.get("size", "100"))
        self.client = Memcache((host, int(port)), connect_timeout=timeout, timeout=timeout, no_delay=True)
        self.client.version()  # connects

    def ask(self):
        key = "key:%d" % random.randrange(self.keys)
        if random.random() < self.writes:
            if not self.client.set(key, self.value, noreply=False):
                raise Exception("not stored")
        else:
            self.client.get(key)

    def do(self, statement):
        """fill KEY N BYTES: sets KEY:0 to KEY:N-1; get KEY N: asks for all of them at once; version."""
        word = statement.split(" ")
        if word[0] == "fill":
            for i in range(int(word[2])):
                self.client.set("%s:%d" % (word[1], i), b"x" * int(word[3]), noreply=False)
        elif word[0] == "get":
            self.client.get_many(["%s:%d" % (word[1], i) for i in range(int(word[2]))])
        else:
            self.client.version()

    def close(self):
        self.client.close()
