"""Redis through redis-py. command=GET key (a command with its arguments); or keys=N,
writes=SHARE and size=N (bytes of a value): GET and SET of the keys key:0 to key:N-1."""
import random
import shlex
import redis


class Client:
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        self.client = redis.Redis(host=host, port=int(port), socket_timeout=timeout, socket_connect_timeout=timeout, single_connection_client=True)
        self.command = options.get("command", "GET key").split(" ")
        self.keys, self.writes = int(options.get("keys", "0")), float(options.get("writes", "0"))
        self.value = b"x" * int(options.get("size", "100"))

    def ask(self):
        if self.keys == 0:
            self.client.execute_command(*self.command)
        elif random.random() < self.writes:
            self.client.set("key:%d" % random.randrange(self.keys), self.value)
        else:
            self.client.get("key:%d" % random.randrange(self.keys))

    def do(self, statement):
        self.client.execute_command(*shlex.split(statement))

    def close(self):
        self.client.close()
