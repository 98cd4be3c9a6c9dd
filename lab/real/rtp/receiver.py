"""Receives RTP by GStreamer's jitter buffer, and logs what that says of its streams.

receiver.py LOG FIRST-PORT STREAMS LATENCY-MS BUFFER-BYTES
"""
import os
import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

path, port, streams, latency, buffer = sys.argv[1], *map(int, sys.argv[2:])
with open("/proc/self/comm", "w") as f:
    f.write("rtp-receiver")
Gst.init(None)
frames = [0]
jitter = []


def came(*_):
    frames[0] += 1


for n in range(streams):
    p = Gst.parse_launch(
        f"udpsrc port={port + 2 * n} buffer-size={buffer} "
        'caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=H264,payload=96" '
        f"! rtpjitterbuffer name=jb latency={latency} ! rtph264depay ! h264parse ! video/x-h264,alignment=au "
        "! fakesink name=sink signal-handoffs=true sync=false"
    )
    p.get_by_name("sink").connect("handoff", came)
    jitter.append((p, p.get_by_name("jb")))
    p.set_state(Gst.State.PLAYING)

before = [0, 0, 0]
log = open(path, "a", buffering=1)


def write():
    pushed = lost = 0
    for _, jb in jitter:
        s = jb.get_property("stats")
        pushed += s.get_value("num-pushed")
        lost += s.get_value("num-lost")
    now, at = [pushed + lost, pushed, frames[0]], time.time_ns()
    for kind, new, old in zip("sdf", now, before):
        if new > old:
            log.write(f"{kind} {at} {new - old}\n")
    before[:] = now
    return True


GLib.timeout_add(100, write)
print("ready", os.getpid(), flush=True)
GLib.timeout_add_seconds(300, sys.exit)
GLib.MainLoop().run()
