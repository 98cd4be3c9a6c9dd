"""HTTP/1.1 through a forward proxy on one connection: each request is for one of names=N
hosts. expect=200 (an answer with another status failed)."""
import http.client
import random


class Client:
    def __init__(self, to, options, timeout):
        self.connection = http.client.HTTPConnection(to, timeout=timeout)
        self.names, self.expect = int(options.get("names", "1")), int(options.get("expect", "200"))

    def ask(self):
        host = "site%d.example.com" % random.randrange(self.names)
        self.connection.putrequest("GET", "http://%s/" % host, skip_host=True)
        self.connection.putheader("Host", host)
        self.connection.endheaders()
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != self.expect:
            raise Exception("status %d" % answer.status)

    def do(self, statement):
        """connect: opens the connection and asks nothing."""
        if self.connection.sock is None:
            self.connection.connect()

    def close(self):
        self.connection.close()
