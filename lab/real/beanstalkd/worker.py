"""Takes jobs one after another, each of which takes a while, and answers each."""
import os, sys, time

sys.path.insert(0, sys.argv[1])
from protocols.beanstalk import Client

to, takes = sys.argv[2], float(sys.argv[3])
with open("/proc/self/comm", "w") as f:
    f.write("order-worker")
client = Client(to, {}, None)
client.tell("watch jobs", "WATCHING")
print("ready", flush=True)
while True:
    words = client.tell("reserve", "RESERVED")
    tube, number, _ = client.file.read(int(words[2]) + 2).split(b" ", 2)
    time.sleep(takes)
    try:
        client.put(tube.decode(), number)
        client.tell("delete " + words[1], "DELETED")
    except Exception as error:  # the server takes no answers: the job is done again later
        if isinstance(error, OSError):
            raise
        print(error, flush=True)
