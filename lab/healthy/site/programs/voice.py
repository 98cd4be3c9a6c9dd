"""A call over UDP: NAME receive|send ADDR:PORT LOG EVERY SIZE [TALK PAUSE]. The sender sends
SIZE bytes every EVERY seconds while somebody talks, and nothing in the pauses (silence
suppression); TALK and PAUSE are their lengths on average. Both write into one client's log."""
import random, socket, sys, threading, time

name, side, to, path, every, size = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], float(sys.argv[5]), int(sys.argv[6])
host, port = to.rsplit(":", 1)
open("/proc/self/comm", "w").write(name)
count, lock = 0, threading.Lock()


def log():
    global count
    with open(path, "a") as f:
        while True:
            time.sleep(0.1)
            with lock:
                n, count = count, 0
            if n:
                f.write("%s %d %d\n" % ("s" if side == "send" else "d", time.time_ns(), n))
                f.flush()


def one():
    global count
    with lock:
        count += 1


threading.Thread(target=log, daemon=True).start()
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if side == "receive":
    s.bind((host, int(port)))
    print("ready", flush=True)
    while True:
        s.recv(2048)
        one()
s.connect((host, int(port)))
print("ready", flush=True)
talk, pause = float(sys.argv[7]), float(sys.argv[8])
while True:
    due, end = time.time(), time.time() + random.expovariate(1 / talk)
    while due < end:
        s.send(bytes(size))
        one()
        due += every
        time.sleep(max(0, due - time.time()))
    time.sleep(min(10, random.expovariate(1 / pause)))
