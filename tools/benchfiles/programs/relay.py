# A relay: what an encoder sends goes to four viewers, by one thread with epoll.
import select, socket, sys, threading, time

end = time.monotonic() + float(sys.argv[1])
ingest, outlet = socket.socket(), socket.socket()
for s in (ingest, outlet):
    s.bind(("127.0.0.1", 0))
    s.listen()

def encoder():
    c = socket.create_connection(ingest.getsockname())
    while time.monotonic() < end:
        c.sendall(b"\x17\x01" + b"x" * 1200)
        time.sleep(0.0002)
    c.close()

def viewer():
    c = socket.create_connection(outlet.getsockname())
    while c.recv(65536):
        pass

threads = [threading.Thread(target=viewer, daemon=True) for _ in range(4)] + [threading.Thread(target=encoder)]
for t in threads:
    t.start()
viewers = [outlet.accept()[0] for _ in range(4)]
source = ingest.accept()[0]
poll = select.epoll()
poll.register(source, select.EPOLLIN)
while True:
    if not poll.poll(1):
        continue
    data = source.recv(65536)
    if not data:
        break
    for v in viewers:
        v.sendall(data)
