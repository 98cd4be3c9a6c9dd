"""Takes jobs from the broker one after another and answers each."""
import os, sys, time

import paho.mqtt.client as mqtt

host, qos, flag, fault, takes, slow = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], float(sys.argv[5]), float(sys.argv[6])
with open("/proc/self/comm", "w") as f:
    f.write("order-worker")


def work(client, _, message):
    late = fault == "slow-consumer" and os.path.exists(flag)
    time.sleep(slow if late else takes)
    client.publish("answers/" + message.topic[5:], message.payload, qos)


client = mqtt.Client(client_id="order-worker")
client.on_message = work
client.on_connect = lambda c, *_: c.subscribe("jobs/#", qos)
client.on_subscribe = lambda *_: print("ready", flush=True)
client.connect(host, 1883)
client.loop_forever()
