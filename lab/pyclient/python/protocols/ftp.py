"""FTP through ftplib, passive, anonymous: a request uploads or downloads a file of size=N
bytes. writes=SHARE."""
import ftplib
import io
import os
import random


class Client:
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        self.writes, self.body = float(options.get("writes", "0.5")), b"x" * int(options.get("size", "100"))
        self.ftp = ftplib.FTP(timeout=timeout)
        self.ftp.connect(host, int(port))
        try:
            self.ftp.login()
        except Exception:
            self.ftp.close()
            raise
        self.name = os.urandom(4).hex()

    def ask(self):
        if random.random() < self.writes:
            self.ftp.storbinary("STOR incoming/%s-%d" % (self.name, random.randrange(3)), io.BytesIO(self.body))
        else:
            self.ftp.retrbinary("RETR file", lambda _: None)

    def do(self, statement):
        self.ftp.voidcmd(statement)

    def close(self):
        self.ftp.close()
