"""An app server: NAME ADDR:PORT WORK WAIT CALL DRAIN. An answer to /page computes for WORK
seconds, waits for WAIT and asks CALL (ADDR:PORT, or "-"). After SIGTERM /health answers 503
for DRAIN seconds, then it finishes what it has and ends."""
import hashlib, http.client, http.server, os, signal, sys, threading, time

name, at, work, wait, call, drain = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]), sys.argv[5], float(sys.argv[6])
open("/proc/self/comm", "w").write(name)
host, port = at.rsplit(":", 1)
draining, lock, busy = False, threading.Lock(), 0
kept = threading.local()


def compute():
    end = time.thread_time() + work
    while time.thread_time() < end:
        hashlib.sha256(b"x" * 20000).digest()


def upstream():
    if not hasattr(kept, "connection"):
        kept.connection = http.client.HTTPConnection(call, timeout=10)
    kept.connection.request("GET", "/page")
    return kept.connection.getresponse().read()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version, wbufsize, disable_nagle_algorithm = "HTTP/1.1", -1, True

    def do_GET(self):
        global busy
        with lock:
            busy += 1
        try:
            self.answer()
        finally:
            with lock:
                busy -= 1

    def answer(self):
        status, body = 200, b"an answer\n" * 50
        if self.path == "/health":
            status = 503 if draining else 200
        else:
            compute()
            time.sleep(wait)
            if call != "-":
                body = upstream()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if draining:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # a client that is gone: clients may end as they like

    request_queue_size, allow_reuse_address, daemon_threads = 256, True, True


def end(*_):
    def leave():
        global draining
        draining = True
        time.sleep(drain)
        server.shutdown()
        server.server_close()
        for _ in range(100):
            if busy == 0:
                break
            time.sleep(0.02)
        os._exit(0)

    threading.Thread(target=leave).start()


signal.signal(signal.SIGTERM, end)
server = Server((host, int(port)), Handler)
print("ready", flush=True)
server.serve_forever()
time.sleep(10)
