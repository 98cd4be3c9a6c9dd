"""Redis through redis-py. command=GET key (a command with its arguments)."""
import redis


class Client:
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        self.client = redis.Redis(host=host, port=int(port), socket_timeout=timeout, socket_connect_timeout=timeout, single_connection_client=True)
        self.command = options.get("command", "GET key").split(" ")

    def ask(self):
        self.client.execute_command(*self.command)

    def close(self):
        self.client.close()
