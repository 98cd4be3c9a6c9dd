"""A report that reads a consistent state of the stock and so keeps its lock."""
import os, sqlite3, sys, time

path, flag, hold, pause = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
with open("/proc/self/comm", "w") as f:
    f.write("stock-report")
db = sqlite3.connect(path, timeout=8, isolation_level=None)
print("ready", flush=True)
while True:
    if os.path.exists(flag):
        db.execute("BEGIN EXCLUSIVE")
        time.sleep(hold)
        db.execute("COMMIT")
        time.sleep(pause)
    else:
        time.sleep(0.01)
