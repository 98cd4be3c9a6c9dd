import http.client, os, threading, time

import waitress

UPSTREAM, FLAG, FAULT = (os.environ[k] for k in ("UPSTREAM", "FLAG", "FAULT"))
lock = threading.Lock()


def ask():
    upstream = http.client.HTTPConnection(UPSTREAM)
    upstream.request("GET", "/price")
    body = upstream.getresponse().read()
    upstream.close()
    return body


def app(environ, start_response):
    if FAULT == "lock-held" and os.path.exists(FLAG):
        with lock:  # the upstream's library is not safe for threads
            body = ask()
    else:
        body = ask()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


def statistics():
    """Calculates in the interpreter, which lets no other thread run meanwhile."""
    while True:
        if os.path.exists(FLAG):
            sum(i * i for i in range(200000))
            sorted(str(i) for i in range(20000))
        else:
            time.sleep(0.02)


if FAULT == "busy-interpreter":
    for _ in range(int(os.environ["STATISTICS"])):
        threading.Thread(target=statistics, daemon=True).start()
with open("/proc/self/comm", "w") as f:
    f.write("waitress")
host, port = os.environ["LISTEN"].split(":")
waitress.serve(app, host=host, port=port, threads=int(os.environ["THREADS"]), connection_limit=int(os.environ["LIMIT"]))
