"""A WebSocket (RFC 6455) that echoes. bytes=N of a message, below 65536."""
import base64, os, socket, struct


class Client:
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.read = self.socket.makefile("rb")
        self.message = b"x" * int(options.get("bytes", "100"))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(("GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n" % (to, key)).encode())
        if b" 101 " not in self.read.readline():
            raise Exception("no WebSocket")
        while self.read.readline() != b"\r\n":
            pass

    def ask(self):
        n = len(self.message)  # masked by zeros, which leave it as it is
        head = struct.pack("!BB", 0x82, 0x80 | n) if n < 126 else struct.pack("!BBH", 0x82, 0x80 | 126, n)
        self.socket.sendall(head + b"\0\0\0\0" + self.message)
        got = struct.unpack("!BB", self.read.read(2))[1]
        if got == 126:
            got = struct.unpack("!H", self.read.read(2))[0]
        if len(self.read.read(got)) != n:
            raise Exception("another message came back")

    def close(self):
        self.socket.close()
