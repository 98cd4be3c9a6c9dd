"""Real clients of real services: asks at a rate on some connections, and writes the
client's log that lab/clientlog describes. A protocol is a file in protocols/ with a class
Client: __init__(to, options, timeout) connects, ask() does one request and raises when it
failed, close() ends. A socket that times out is a lost request, any other exception a
failed one."""
import argparse, importlib, os, socket, sys, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


class Log:
    """Writes lines every 100 ms; requests that are open for longer are written as such."""

    def __init__(self, path):
        self.lock, self.lines, self.open, self.last = threading.Lock(), [], {}, 0
        self.file = open(path, "w")
        threading.Thread(target=self.flushing, daemon=True).start()

    def begin(self, due):
        with self.lock:
            start = max(due, self.last + 1)
            self.last = start
            self.open[start] = due
            return start

    def end(self, start, outcome):
        with self.lock:
            self.lines.append("r %d %d %s\n" % (start, time.time_ns() - self.open.pop(start), outcome))

    def flushing(self):
        while True:
            time.sleep(0.1)
            with self.lock:
                lines, self.lines, now = self.lines, [], time.time_ns()
                lines += ["r %d %d open\n" % (s, now - due) for s, due in self.open.items() if now - due > 200_000_000]
            self.file.write("".join(lines))
            self.file.flush()


TIMEOUTS = (TimeoutError, socket.timeout)


def lost(error):
    while error is not None:  # a library may wrap the time-out in an error of its own
        if isinstance(error, TIMEOUTS) or "timed out" in str(error).lower() or "timeout" in type(error).__name__.lower():
            return True
        error = error.__cause__ or error.__context__
    return False


def run(make, log, every, open_loop, wait, fresh):
    time.sleep(wait)
    client, due = None, time.time()
    while True:
        now = time.time()
        start = log.begin(int((due if open_loop else now) * 1e9))
        try:
            if client is None:
                client = make()
            client.ask()
            log.end(start, "ok")
            failed = False
        except Exception as error:  # whatever a library raises: the request was not answered
            log.end(start, "lost" if lost(error) else "failed")
            failed = True
            print("%s: %s" % (type(error).__name__, str(error)[:200]), file=sys.stderr, flush=True)
        if (failed or fresh) and client is not None:
            try:
                client.close()
            except Exception:
                pass
            client = None
        if failed:
            time.sleep(0.2)
        due += every
        if not open_loop and due < time.time():
            due = time.time()
        time.sleep(max(0, due - time.time()))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("protocol")
    p.add_argument("--to", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--conns", type=int, default=1)
    p.add_argument("--every", type=float, default=0.1, help="seconds between the requests of a connection")
    p.add_argument("--open", action="store_true", help="at that rate whether the one before was answered or not")
    p.add_argument("--fresh", action="store_true", help="a connection for each request")
    p.add_argument("--timeout", type=float, default=10)
    p.add_argument("--comm", default="")
    p.add_argument("options", nargs="*", help="NAME=VALUE of the protocol; timeout=SECONDS of all")
    a = p.parse_intermixed_args()
    if a.comm:
        with open("/proc/self/comm", "w") as f:
            f.write(a.comm)
    module = importlib.import_module("protocols." + a.protocol)
    options = dict(o.split("=", 1) for o in a.options)
    timeout = float(options.get("timeout", a.timeout))
    log = Log(a.log)
    threading.stack_size(256 * 1024)
    for i in range(a.conns):
        args = (lambda: module.Client(a.to, options, timeout), log, a.every, a.open, i * a.every / a.conns, a.fresh)
        threading.Thread(target=run, args=args, daemon=True).start()
    print("ready", flush=True)
    time.sleep(300)


main()
