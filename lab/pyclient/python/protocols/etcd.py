"""etcd through its JSON gateway on one connection. writes=SHARE of the requests put a key of
size=N bytes; the others get one, or all that begin with prefix=KEY."""
import base64, http.client, json, random


class Client:
    def __init__(self, to, options, timeout):
        self.connection = http.client.HTTPConnection(to, timeout=timeout)
        self.writes, self.size = float(options.get("writes", "0.5")), int(options.get("size", "100"))

    def ask(self):
        key = base64.b64encode(b"key%d" % random.randrange(100)).decode()
        if random.random() < self.writes:
            self.call("put", {"key": key, "value": base64.b64encode(b"x" * self.size).decode()})
        else:
            self.call("range", {"key": key})

    def call(self, what, body):
        self.connection.request("POST", "/v3/kv/" + what, json.dumps(body))
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise Exception("status %d" % answer.status)

    def close(self):
        self.connection.close()
