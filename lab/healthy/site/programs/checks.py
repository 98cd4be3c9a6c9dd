"""Health checks: NAME FORM ADDR:PORT EVERY COUNT. So many checkers, each with its own pace."""
import http.client, os, random, socket, ssl, struct, sys, threading, time

name, form, to, every, count = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), int(sys.argv[5])
host, port = to.rsplit(":", 1)
address = (host, int(port))
open("/proc/self/comm", "w").write(name)


def dial():
    return socket.create_connection(address, timeout=5)


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def connect():
    dial().close()


def rst():
    reset(dial())


def syn():
    """Half-open: no socket of this host owns the port, so the kernel answers the SYN-ACK with a RST."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probe.connect(address)
    source = socket.inet_aton(probe.getsockname()[0])
    probe.close()
    header = struct.pack("!HHIIBBHHH", random.randint(10000, 30000), address[1], random.getrandbits(32), 0, 5 << 4, 2, 1024, 0, 0)
    pseudo = source + socket.inet_aton(host) + struct.pack("!BBH", 0, 6, len(header)) + header
    total = sum(struct.unpack("!%dH" % (len(pseudo) // 2), pseudo))
    total = (total & 0xFFFF) + (total >> 16)
    total = ~(total + (total >> 16)) & 0xFFFF
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
    raw.sendto(header[:16] + struct.pack("!H", total) + header[18:], (host, 0))
    raw.close()


def ask(method):
    c = http.client.HTTPConnection(host, address[1], timeout=5)
    c.request(method, "/page", headers={"Connection": "close"})
    c.getresponse().read()
    c.close()


def hasty():
    """Asks and closes without reading: the answer meets a RST."""
    s = dial()
    s.sendall(b"GET /page HTTP/1.0\r\n\r\n")
    s.close()


context = ssl._create_unverified_context()


def tls():
    context.wrap_socket(dial()).close()  # without close_notify


def tls_rst():
    s = context.wrap_socket(dial())
    s.sendall(b"HEAD /page HTTP/1.0\r\n\r\n")
    s.recv(4096)
    s.settimeout(0.05)
    try:
        s.unwrap()
    except OSError:
        pass
    reset(s)


def http2():
    """As a gRPC health check that gives up after the settings."""
    s = dial()
    s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
    s.recv(4096)
    s.sendall(b"\0\0\x08\7\0\0\0\0\0" + b"\0" * 8)
    s.close()


def redis():
    s = dial()
    s.sendall(b"PING\r\n")
    s.recv(64)
    s.close()


def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(1)
    s.sendto(b"\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x06health\x05local\x00\x00\x01\x00\x01", address)
    s.recv(512)
    s.close()


forms = {"connect": connect, "rst": rst, "syn": syn, "head": lambda: ask("HEAD"), "options": lambda: ask("OPTIONS"), "hasty": hasty,
         "tls": tls, "tls-rst": tls_rst, "http2": http2, "redis": redis, "udp": udp}


def run(check):
    time.sleep(random.random() * every)
    while True:
        try:
            check()
        except OSError as e:
            print("%s: %s" % (form, e), file=sys.stderr, flush=True)
        time.sleep(every * random.uniform(0.9, 1.1))


threading.stack_size(256 * 1024)
for _ in range(count):
    threading.Thread(target=run, args=(forms[form],), daemon=True).start()
print("ready", flush=True)
time.sleep(290)
