"""A web service in Python. It takes LISTEN SIZE WAIT STATUS SHARE LATE, times in seconds;
SIGUSR2 begins and ends that a share of the requests is answered with that status."""
import http.server, random, signal, socketserver, sys, time

signal.alarm(300)
listen, size, wait, status, share, late = sys.argv[1], *map(float, sys.argv[2:7])
broken = False


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body are one write

    def do_GET(self):
        fails = broken and random.random() < share
        time.sleep(late if fails else wait)
        body = b"out of order" if fails else b"x" * int(size)
        self.send_response(int(status) if fails else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def flip(*_):
    global broken
    broken = not broken


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads, request_queue_size = True, True, 1024


signal.signal(signal.SIGUSR2, flip)
server = Server((listen.split(":")[0], int(listen.split(":")[1])), Shop)
print("ready", flush=True)
server.serve_forever()
