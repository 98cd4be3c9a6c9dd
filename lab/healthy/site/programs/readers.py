"""Readers that end as they like: NAME FORM ADDR:PORT PATH EVERY COUNT [BYTES PER SECOND].
first-bytes reads some and closes; header reads as far as the body; unread waits for all of
a kept connection's answer and closes without reading it; preconnect asks nothing; switch
reads at a pace, as a player does, and goes over to another in the middle; paced reads all,
at that rate; hold connects and stays; a
tenth of them has asked once."""
import random, resource, socket, sys, threading, time

name, form, to, path, every, count = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], float(sys.argv[5]), int(sys.argv[6])
rate = float(sys.argv[7]) if len(sys.argv) > 7 else 1e6
host, port = to.rsplit(":", 1)
open("/proc/self/comm", "w").write(name)


def ask():
    s = socket.create_connection((host, int(port)), timeout=20)
    s.sendall(b"GET %s HTTP/1.1\r\nHost: site\r\n\r\n" % path.encode())
    return s


def first_bytes(s):
    left = random.choice([1, 1000, 50_000, 200_000])
    while left > 0:
        got = len(s.recv(min(left, 65536)))
        if got == 0:
            break
        left -= got


def header(s):
    text = b""
    while b"\r\n\r\n" not in text:
        got = s.recv(512)
        if not got:
            break
        text += got


def unread(s):
    time.sleep(0.3)


def paced(s, most=None):
    length, text = None, b""
    while b"\r\n\r\n" not in text:
        text += s.recv(4096)
    head, body = text.split(b"\r\n\r\n", 1)
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    length = min(length, most or length)
    begin, got = time.time(), len(body)
    while got < length:
        piece = len(s.recv(16384))
        if piece == 0:
            break
        got += piece
        time.sleep(max(0, begin + got / rate - time.time()))


def switch(s):
    paced(s, int(rate * random.uniform(0.2, 2)))


def run(read):
    time.sleep(random.random() * every)
    while True:
        try:
            if read is None:
                s = socket.create_connection((host, int(port)), timeout=20)
                time.sleep(random.uniform(0.5, 4))
            else:
                s = ask()
                read(s)
            s.close()
        except OSError as e:
            print("%s: %s" % (form, e), file=sys.stderr, flush=True)
        time.sleep(every * random.uniform(0.5, 1.5))


forms = {"first-bytes": first_bytes, "header": header, "unread": unread, "switch": switch, "paced": paced, "preconnect": None}
threading.stack_size(256 * 1024)
if form == "hold":
    resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
    held = []

    def hold(part):
        for i in part:
            s = socket.create_connection((host, int(port)), timeout=20)
            held.append(s)
            if i % 10 == 0:
                s.sendall(b"PING\r\n" if path == "-" else b"GET %s HTTP/1.1\r\nHost: site\r\n\r\n" % path.encode())
                s.recv(65536)

    threading.stack_size(256 * 1024)
    several = [threading.Thread(target=hold, args=(range(k, count, 200),)) for k in range(200)]
    for t in several:
        t.start()
    for t in several:
        t.join()
else:
    for _ in range(count):
        threading.Thread(target=run, args=(forms[form],), daemon=True).start()
print("ready", flush=True)
time.sleep(290)
