"""A server of streams that end, and players that come and go: NAME serve ADDR:PORT LENGTH
BYTES, or NAME play ADDR:PORT COUNT PAUSE LOG. A stream lasts LENGTH seconds on average at
BYTES per second; after its end a player comes back, each time after twice as long a PAUSE,
up to 4 s, then from the beginning."""
import random, socket, sys, threading, time

name, side, to = sys.argv[1:4]
host, port = to.rsplit(":", 1)
open("/proc/self/comm", "w").write(name)
threading.stack_size(256 * 1024)


def serve(s, length, rate):
    end = time.time() + random.expovariate(1 / length)
    try:
        while time.time() < end:
            s.sendall(bytes(max(1, int(rate * 0.04))))
            time.sleep(0.04)
        s.close()
    except OSError:
        pass


def play(pause):
    again = pause
    while True:
        try:
            s = socket.create_connection((host, int(port)), timeout=20)
            while True:
                piece = s.recv(65536)
                if not piece:
                    break
                got.append(len(piece))
            s.close()
        except OSError as e:
            print(e, file=sys.stderr, flush=True)
        time.sleep(again * random.uniform(0.5, 1))
        again = again * 2 if again < 2 else pause


got = []
if side == "serve":
    length, rate = float(sys.argv[4]), float(sys.argv[5])
    listener = socket.create_server((host, int(port)), backlog=256)
    print("ready", flush=True)
    while True:
        s, _ = listener.accept()
        threading.Thread(target=serve, args=(s, length, rate), daemon=True).start()
for _ in range(int(sys.argv[4])):
    threading.Thread(target=play, args=(float(sys.argv[5]),), daemon=True).start()
print("ready", flush=True)
with open(sys.argv[6], "w") as f:
    while True:
        time.sleep(0.1)
        pieces, got = got, []
        if pieces:
            f.write("f %d %d\n" % (time.time_ns(), sum(pieces)))
            f.flush()
