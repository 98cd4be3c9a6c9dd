"""Sessions that others must put up with: opens --conns of a protocol, each of which does
every statement once, and holds them; with --every it then does the last one again and
again. What fails is tried again."""
import argparse, importlib, os, sys, threading, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def hold(module, a):
    client = None
    while client is None:
        try:
            client = module.Client(a.to, {}, a.timeout)
            for statement in a.statements:
                client.do(statement)
        except Exception as error:
            print("%s: %s" % (type(error).__name__, str(error)[:200]), flush=True)
            client = None
            time.sleep(0.05)
    print("holds", flush=True)
    while True:
        time.sleep(a.every or 300)
        try:
            client.do(a.statements[-1])
        except Exception as error:
            print("%s: %s" % (type(error).__name__, str(error)[:200]), flush=True)


p = argparse.ArgumentParser()
p.add_argument("protocol")
p.add_argument("--to", required=True)
p.add_argument("--conns", type=int, default=1)
p.add_argument("--every", type=float, default=0, help="seconds from the end of the last statement to the next")
p.add_argument("--timeout", type=float, default=60)
p.add_argument("--comm", default="")
p.add_argument("statements", nargs="*")
a = p.parse_intermixed_args()
if a.comm:
    with open("/proc/self/comm", "w") as f:
        f.write(a.comm)
module = importlib.import_module("protocols." + a.protocol)
threading.stack_size(256 * 1024)
for i in range(a.conns):
    threading.Thread(target=hold, args=(module, a), daemon=True).start()
time.sleep(300)
