"""MQTT through paho: a request is published to jobs/ID, and its answer comes to answers/ID,
from a program that subscribes to jobs/#. qos=0, size=N bytes."""
import os, queue, threading

import paho.mqtt.client as mqtt


class Client:
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        self.id, self.timeout, self.qos = os.urandom(6).hex(), timeout, int(options.get("qos", "0"))
        self.payload, self.number, self.answers = b"x" * int(options.get("size", "100")), 0, queue.Queue()
        up = threading.Event()
        self.code = None
        self.client = mqtt.Client(client_id=self.id)
        self.client.on_connect = lambda c, _, flags, code: self.connected(code)
        self.client.on_subscribe = lambda *_: up.set()
        self.client.on_message = lambda c, _, m: self.answers.put(m.payload[:8])
        self.client.connect(host, int(port), keepalive=60)
        self.client.loop_start()
        if not up.wait(min(timeout, 5)):
            self.close()
            if self.code is None:
                raise ConnectionError("the broker hung up")
            raise TimeoutError("no subscription")

    def connected(self, code):
        self.code = code
        self.client.subscribe("answers/" + self.id, self.qos)

    def ask(self):
        self.number += 1
        head = b"%08d" % self.number
        self.client.publish("jobs/" + self.id, head + self.payload, self.qos)
        while True:
            try:
                answer = self.answers.get(timeout=self.timeout)
            except queue.Empty:
                raise TimeoutError("no answer")
            if answer == head:  # the answer to one that was given up may come late
                return

    def close(self):
        self.client.loop_stop()
        self.client.disconnect()
