"""DNS through dnspython, over UDP. known=SHARE of the queries are for one of ten names, which
a cache has; the others for new ones. timeout=SECONDS until a query is given up."""
import os, random

import dns.message, dns.query, dns.rcode


class Client:
    def __init__(self, to, options, timeout):
        self.host, port = to.rsplit(":", 1)
        self.port = int(port)
        self.known = float(options.get("known", "0.5"))
        self.timeout = min(timeout, float(options.get("timeout", "5")))

    def ask(self):
        known = random.random() < self.known
        name = "host%d.example.com" % random.randrange(10) if known else "n%s.example.com" % os.urandom(6).hex()
        answer = dns.query.udp(dns.message.make_query(name, "A"), self.host, self.timeout, self.port)
        if answer.rcode() != dns.rcode.NOERROR:
            raise Exception(dns.rcode.to_text(answer.rcode()))

    def close(self):
        pass
