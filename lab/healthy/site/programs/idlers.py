"""A process that rests or fills: NAME threads COUNT, so many threads that sleep; NAME memory
MB, so much memory that is touched again and again; NAME chatter LINES, so many lines per
second on standard output."""
import sys, threading, time

name, form, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
open("/proc/self/comm", "w").write(name)
if form == "threads":
    threading.stack_size(64 * 1024)

    def rest(i):
        while True:
            time.sleep(1 + i % 10)

    for i in range(n):
        threading.Thread(target=rest, args=(i,), daemon=True).start()
    print("ready", flush=True)
elif form == "memory":
    held = bytearray(n << 20)
    print("ready", flush=True)
    while True:
        for at in range(0, len(held), 4096):
            held[at] = (held[at] + 1) & 255
            if at % (16 << 20) == 0:
                time.sleep(0.02)
elif form == "chatter":
    line = "INFO request served in 12 ms by worker 7, nothing to see here\n"
    while True:
        sys.stdout.write(line * max(1, n // 100))
        sys.stdout.flush()
        time.sleep(0.01)
time.sleep(290)
