"""The service of lab/anyserver in Python: a poller hands connections that have something
to read to a pool of threads, which read, work and answer, as gunicorn's gthread worker
does. See anyserver.go for what it is started with, and for the lines that it is told."""
import os, select, signal, socket, sys, threading, time
from concurrent.futures import ThreadPoolExecutor

signal.alarm(300)
listen, size, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
more = dict(arg.split("=", 1) for arg in sys.argv[7:])
table, served = threading.Lock(), 0
told = {"work": int(sys.argv[4]), "wait": int(sys.argv[5]), "lock": 0, "hang": 0, "hold": 0}
hold = [0, "s"]
own = threading.local()
journal = os.open(more["journal"], os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644) if "journal" in more else -1


def connect(to):
    if to.startswith("/"):
        s = socket.socket(socket.AF_UNIX)
        s.connect(to)
    else:
        host, port = to.split(":")
        s = socket.create_connection((host, int(port)))
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def ask():
    """Asks another service on the thread's own connection."""
    try:
        if getattr(own, "backend", None) is None:
            own.backend = connect(more["call"])
        own.backend.sendall(bytes(128))
        if len(own.backend.recv(128, socket.MSG_WAITALL)) < 128:
            raise OSError("it closed the connection")
    except OSError:
        own.backend = None


def compute(us):
    end, n = time.thread_time_ns() + us * 1000, 0
    while us and time.thread_time_ns() < end:
        for i in range(200):
            n = (n ^ i) * 31 & 0xFFFFFFFF


def request():
    while told["hang"]:
        time.sleep(0.02)
    if "names" in more:
        try:
            socket.getaddrinfo("backend.example.", 80)
        except OSError:
            pass
    if "call" in more:
        ask()
    compute(told["work"])
    if told["wait"]:
        time.sleep(told["wait"] / 1e6)
    if journal >= 0:
        os.write(journal, bytes(4096))
        os.fdatasync(journal)
    if "echo" in more:
        print("x" * (int(more["echo"]) - 1), flush=True)


def handle():
    global served
    if told["lock"]:
        with table:
            served += 1
            request()
    else:
        with table:
            served += 1
        request()


def serve(c):
    try:
        try:
            part = c.conn.recv(size - len(c.got), socket.MSG_DONTWAIT)
            if not part:
                raise OSError("the peer is gone")
            c.got += part
        except BlockingIOError:
            pass
        if len(c.got) == size:
            handle()
            c.conn.sendall(c.got)
            c.got = b""
        poller.modify(c.conn.fileno(), select.EPOLLIN | select.EPOLLONESHOT)
    except OSError:
        conns.pop(c.conn.fileno(), None)
        c.conn.close()


class Conn:
    def __init__(self, conn):
        self.conn, self.got = conn, b""


def accept():
    while True:
        conn, _ = listener.accept()
        if not listen.startswith("/"):
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        conns[conn.fileno()] = Conn(conn)
        poller.register(conn.fileno(), select.EPOLLIN | select.EPOLLONESHOT)


def keep():
    """Housekeeping takes the lock that requests take for a moment, and keeps it for longer."""
    while told["hold"]:
        with table:
            if hold[1] == "w":
                compute(told["hold"])
            else:
                time.sleep(told["hold"] / 1e6)
        time.sleep(hold[0] / 1e6)


def control():
    with os.fdopen(os.open(sys.argv[6], os.O_RDWR), "rb", buffering=0) as lines:
        while True:
            w = lines.readline().decode().split()
            was, told[w[0]] = told["hold"], int(w[1])
            if w[0] == "hold" and told["hold"]:
                hold[0], hold[1] = int(w[2]), w[3]
                if not was:
                    threading.Thread(target=keep, daemon=True).start()


conns, poller = {}, select.epoll()
if listen.startswith("/"):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(listen)
else:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((listen.split(":")[0], int(listen.split(":")[1])))
listener.listen(1024)
threading.Thread(target=accept, daemon=True).start()
threading.Thread(target=control, daemon=True).start()
print("ready", flush=True)
with ThreadPoolExecutor(workers) as pool:
    while True:
        for fd, _ in poller.poll():
            if fd in conns:
                pool.submit(serve, conns[fd])
