"""HTTP/1.1 as a browser speaks it: a kept connection that the server has closed meanwhile
is opened again, and the request repeated once (RFC 9110, 9.2.2). path=/, expect=200."""
import http.client


class Client:
    def __init__(self, to, options, timeout):
        self.connection = http.client.HTTPConnection(to, timeout=timeout)
        self.path = options.get("path", "/")
        self.expect = int(options.get("expect", "200"))

    def ask(self):
        kept = self.connection.sock is not None
        try:
            self.once()
        except (http.client.RemoteDisconnected, http.client.CannotSendRequest, ConnectionResetError, BrokenPipeError):
            if not kept:
                raise
            self.connection.close()
            self.once()

    def once(self):
        self.connection.request("GET", self.path)
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != self.expect:
            raise Exception("status %d" % answer.status)

    def close(self):
        self.connection.close()
