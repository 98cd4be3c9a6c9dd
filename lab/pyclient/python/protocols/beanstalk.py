"""beanstalkd over its own protocol: a request puts a job of size=N bytes into the tube jobs,
and a worker puts the answer into the tube answers-ID."""
import os
import socket


class Client:
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.tube, self.number = "answers-" + os.urandom(6).hex(), 0
        self.payload = b"x" * int(options.get("size", "100"))
        self.wait = max(1, int(timeout or 1))

    def tell(self, command, expect, body=None):
        data = command.encode() + b"\r\n"
        if body is not None:
            data += body + b"\r\n"
        self.socket.sendall(data)
        words = self.file.readline().decode().split()
        if not words:
            raise ConnectionError("the server hung up")
        if words[0] == "TIMED_OUT":
            raise TimeoutError("no answer")
        if words[0] != expect:
            raise Exception(" ".join(words))
        return words

    def put(self, tube, body):
        self.tell("use " + tube, "USING")
        self.tell("put 100 0 60 %d" % len(body), "INSERTED", body)

    def take(self, seconds):
        words = self.tell("reserve-with-timeout %d" % seconds, "RESERVED")
        body = self.file.read(int(words[2]) + 2)[:-2]
        return words[1], body

    def ask(self):
        if self.number == 0:
            self.tell("watch " + self.tube, "WATCHING")
        self.number += 1
        head = b"%s %d " % (self.tube.encode(), self.number)
        self.put("jobs", head + self.payload)
        while True:
            job, answer = self.take(self.wait)
            self.tell("delete " + job, "DELETED")
            if answer == b"%d" % self.number:  # the answer to one that was given up may come late
                return

    def do(self, statement):
        """stats: asks for the server's figures, as monitoring does."""
        words = self.tell(statement, "OK")
        self.file.read(int(words[1]) + 2)

    def close(self):
        self.socket.close()
