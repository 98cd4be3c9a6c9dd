"""HTTP/1.1 on one connection. path=/, expect=200 (an answer with another status failed),
body=N (bytes to POST)."""
import http.client


class Client:
    def __init__(self, to, options, timeout):
        self.connection = http.client.HTTPConnection(to, timeout=timeout)
        self.path = options.get("path", "/")
        self.expect = int(options.get("expect", "200"))
        self.body = b"x" * int(options.get("body", "0"))

    def ask(self):
        self.connection.request("POST" if self.body else "GET", self.path, self.body or None)
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != self.expect:
            raise Exception("status %d" % answer.status)

    def close(self):
        self.connection.close()
