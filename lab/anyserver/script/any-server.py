"""The service of lab/anyserver in Python: a poller hands connections that have something
to read to a pool of threads, which read, work and answer, as gunicorn's gthread worker
does. See anyserver.go for what it is started with, and for the lines that it is told."""
import itertools, os, select, signal, socket, sys, threading, time
from concurrent.futures import ThreadPoolExecutor

signal.alarm(300)
listen, size, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
more = dict(arg.split("=", 1) for arg in sys.argv[7:])
table, served = threading.Lock(), 0
told = {"work": int(sys.argv[4]), "wait": int(sys.argv[5]), "lock": 0, "hang": 0, "hold": 0, "block": 0, "heavy": 0, "grow": 0, "keep": 0,
        "limit": int(more.get("limit", 0)), "pool": int(more.get("pool", 0))}
hold = [0, "s"]
every = {"block": 0, "heavy": 0}
worked, grown = itertools.count(1), []
own = threading.local()
idle, taken, kept, given = [], 0, 0, threading.Condition()
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


def borrow():
    """Takes a connection of the pool, as soon as one is free; None: it is yet to be opened."""
    global taken
    with given:
        given.wait_for(lambda: taken < told["pool"])
        taken += 1
        return idle.pop() if idle else None


def give_back(conn):
    global taken
    with given:
        taken -= 1
        if conn is not None:
            idle.append(conn)
        trim()
        given.notify()


def trim():
    """Closes what is more than the pool may have."""
    while idle and taken + len(idle) > told["pool"]:
        idle.pop().close()


def keep_conns(n, mine):
    """Takes connections of the pool, and keeps them until it is told otherwise."""
    has = []
    while len(has) < n and kept == mine:
        has.append(borrow() or connect(more["call"]))
    while kept == mine:
        time.sleep(0.02)
    for conn in has:
        give_back(conn)


def ask():
    """Asks another service, on a connection of the pool or on the thread's own."""
    pooled = told["pool"]
    conn = borrow() if pooled else getattr(own, "backend", None)
    try:
        if conn is None:
            conn = connect(more["call"])
        conn.sendall(bytes(128))
        if len(conn.recv(128, socket.MSG_WAITALL)) < 128:
            raise OSError("it closed the connection")
    except OSError:
        conn = None
    if pooled:
        give_back(conn)
    else:
        own.backend = conn
    if conn is None and "needs" in more:
        raise OSError("no answer without the other service")


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
    if told["grow"]:
        grown.append(b"x" * told["grow"])
    compute(told["work"])
    if told["heavy"] and next(worked) % every["heavy"] == 0:
        compute(told["heavy"])
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


def refuse(conn):
    try:
        conn.sendall(more.get("refusal", "").encode())
    except OSError:
        pass  # it is gone
    conn.close()


def accept():
    while True:
        conn, _ = listener.accept()
        if told["limit"] and len(conns) >= told["limit"]:
            refuse(conn)
            continue
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


def block():
    """A long task in a worker, again and again."""
    while told["block"]:
        time.sleep(every["block"] / 1e6)
        pool.submit(compute, told["block"]).result()


def control():
    global kept
    with os.fdopen(os.open(sys.argv[6], os.O_RDWR), "rb", buffering=0) as lines:
        while True:
            w = lines.readline().decode().split()
            if w[0] == "die":
                os._exit(int(w[1]))
            if w[0] in every and len(w) > 2:
                every[w[0]] = int(w[2])
            was, told[w[0]] = told.get(w[0]), int(w[1])
            if w[0] == "block" and told["block"] and not was:
                threading.Thread(target=block, daemon=True).start()
            elif w[0] == "pool":
                with given:
                    trim()
                    given.notify_all()
            elif w[0] == "keep":
                kept += 1
                if told["keep"]:
                    threading.Thread(target=keep_conns, args=(told["keep"], kept), daemon=True).start()
            elif w[0] == "hold" and told["hold"]:
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
