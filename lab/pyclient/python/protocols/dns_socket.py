"""DNS over UDP. name=N%d.example (%d is a number that changes), expect=NXDOMAIN or NOERROR."""
import random, socket, struct


class Client:
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(timeout)
        self.socket.connect((host, int(port)))
        self.name = options.get("name", "host.example")
        self.expect = {"NOERROR": 0, "NXDOMAIN": 3}[options.get("expect", "NOERROR")]

    def ask(self):
        number = random.getrandbits(16)
        name = self.name.replace("%d", str(random.getrandbits(24)))
        question = b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0"
        self.socket.send(struct.pack("!6H", number, 0x0100, 1, 0, 0, 0) + question + struct.pack("!2H", 1, 1))
        while True:
            answer = self.socket.recv(4096)
            if answer[:2] == struct.pack("!H", number):
                break
        if answer[3] & 15 != self.expect:
            raise Exception("answered with code %d" % (answer[3] & 15))

    def close(self):
        self.socket.close()
