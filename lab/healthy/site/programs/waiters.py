"""Clients that wait for what may come: NAME FORM ADDR:PORT COUNT SECONDS. poll asks again after
each answer, events reads a stream without an end, websocket is connected and pings every so
many SECONDS, blpop and subscribe wait in Redis, where feed pushes something every so many
SECONDS."""
import base64, os, random, socket, sys, threading, time

name, form, to, count, seconds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5])
host, port = to.rsplit(":", 1)
open("/proc/self/comm", "w").write(name)


def dial():
    return socket.create_connection((host, int(port)))


def poll():
    s = dial()
    while True:
        s.sendall(b"GET /poll HTTP/1.1\r\nHost: site\r\n\r\n")
        s.recv(4096)


def events():
    s = dial()
    s.sendall(b"GET /events HTTP/1.1\r\nHost: site\r\n\r\n")
    while s.recv(4096):
        pass


def websocket():
    s = dial()
    key = base64.b64encode(os.urandom(16))
    s.sendall(b"GET / HTTP/1.1\r\nHost: site\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n")
    s.recv(4096)
    while True:
        time.sleep(seconds * random.uniform(0.5, 1.5))
        s.sendall(b"\x89\x80" + os.urandom(4))  # a ping without a body, masked
        s.recv(4096)


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


def blpop():
    s = dial()
    while True:
        s.sendall(command(b"BLPOP", b"jobs", b"0" if random.random() < 0.5 else b"%d" % random.randint(1, 5)))
        s.recv(4096)


def subscribe():
    s = dial()
    s.sendall(command(b"SUBSCRIBE", b"news"))
    while s.recv(4096):
        pass


def feed():
    s = dial()
    while True:
        time.sleep(seconds)
        s.sendall(command(b"RPUSH", b"jobs", b"x" * 100) + command(b"PUBLISH", b"news", b"x" * 100))
        s.recv(4096)


def run(wait):
    time.sleep(random.random())
    while True:
        try:
            wait()
        except OSError as e:
            print("%s: %s" % (form, e), file=sys.stderr, flush=True)
        time.sleep(0.2)


threading.stack_size(256 * 1024)
for _ in range(count):
    threading.Thread(target=run, args=(globals()[form],), daemon=True).start()
print("ready", flush=True)
time.sleep(290)
