"""A WSGI program that asks an upstream for each answer; by its environment it looks a name
up, counts in SQLite, leaks while FLAG is there, and takes STARTUP seconds to start."""
import http.client, os, socket, sqlite3, time

UPSTREAM, NAME, DB, FLAG, LEAK = (os.environ.get(k, "") for k in ("UPSTREAM", "NAME", "DB", "FLAG", "LEAK"))
kept = []
time.sleep(float(os.environ.get("STARTUP", "0")))
db = None


def order():
    global db
    if db is None:  # one for each worker, after the fork
        db = sqlite3.connect(DB, timeout=8, isolation_level=None)
        db.execute("PRAGMA synchronous = OFF")
    db.execute("UPDATE stock SET sold = sold + 1 WHERE id = ?", (os.getpid() % 50,))


def app(environ, start_response):
    if NAME:
        socket.getaddrinfo(NAME, 80, socket.AF_INET)
    if DB:
        order()
    if LEAK and os.path.exists(FLAG):
        kept.append(b"x" * int(LEAK))
    upstream = http.client.HTTPConnection(UPSTREAM)
    upstream.request("GET", "/price")
    body = upstream.getresponse().read()
    upstream.close()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


application = app
