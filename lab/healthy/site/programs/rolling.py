"""Keeps app servers, and starts them anew one by one after SIGUSR1: NAME ADDR FIRST-PORT COUNT
APP.PY WORK DRAIN. Each is drained, ends, is started again and answers before the next."""
import signal, socket, subprocess, sys, time

name, host, first, count, app, work, drain = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6], float(sys.argv[7])
open("/proc/self/comm", "w").write(name)


def answers(port):
    try:
        s = socket.create_connection((host, port), timeout=1)
        s.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        ok = b" 200 " in s.recv(4096)
        s.close()
        return ok
    except OSError:
        return False


def start(i):
    p = subprocess.Popen([sys.executable, app, "app-%d" % i, "%s:%d" % (host, first + i), work, "0", "-", str(drain)])
    while not answers(first + i):
        time.sleep(0.05)
    return p


deploy = False


def asked(*_):
    global deploy
    deploy = True


signal.signal(signal.SIGUSR1, asked)
servers = [start(i) for i in range(count)]
print("ready", flush=True)
while True:
    time.sleep(0.05)
    if deploy:
        deploy = False
        for i in range(count):
            servers[i].terminate()
            servers[i].wait()
            servers[i] = start(i)
            time.sleep(drain)  # until the proxy's checks have seen it
