"""IMAP through imaplib. users=N (of which a connection is one), writes=SHARE (a message of
size=N bytes is appended; the others are fetched), messages=N that an inbox has."""
import imaplib
import os
import random


class Client:
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        self.writes, self.messages = float(options.get("writes", "0.5")), int(options.get("messages", "1"))
        line = os.urandom(30).hex().encode() + b"\r\n"
        self.text = b"From: a@example.com\r\nSubject: order\r\n\r\n" + line * (1 + int(options.get("size", "100")) // len(line))
        self.imap = imaplib.IMAP4(host, int(port), timeout)
        try:
            self.imap.login("user%d" % random.randrange(int(options.get("users", "1"))), "secret")
            self.must(self.imap.select("INBOX"))
        except Exception:
            self.imap.shutdown()
            raise

    def must(self, answer):
        if answer[0] != "OK":
            raise Exception(str(answer))

    def ask(self):
        if random.random() < self.writes:
            self.must(self.imap.append("INBOX", None, None, self.text))
        else:
            self.must(self.imap.fetch(str(random.randint(1, self.messages)), "(BODY.PEEK[])"))

    def do(self, statement):
        self.must(self.imap.noop())

    def close(self):
        self.imap.shutdown()
