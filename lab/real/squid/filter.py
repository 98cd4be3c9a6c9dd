"""A rewriter of URLs as Squid starts it (squidGuard and its like): one request at a time,
looked up in a list elsewhere, which takes a while. It lets all of them pass."""
import sys, time

with open("/proc/self/comm", "w") as f:
    f.write("url-filter")
takes = float(sys.argv[1])
for _ in iter(sys.stdin.readline, ""):
    time.sleep(takes)
    sys.stdout.write("ERR\n")  # leave the URL as it is
    sys.stdout.flush()
