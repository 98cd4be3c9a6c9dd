"""Receives RTP by GStreamer, and logs its frames, and the packets that came and were
sent: the numbers of RFC 3550, A.3, which a receiver reports to its sender.

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
streams_seen = []


def frame(*_):
    frames[0] += 1


class Seen:
    """The packets of a stream."""

    def __init__(self):
        self.first = self.last = None
        self.came = 0

    def packet(self, _pad, info):
        n = int.from_bytes(info.get_buffer().extract_dup(2, 2), "big")
        if self.first is None:
            self.first = self.last = n
        step = (n - self.last) & 0xFFFF
        if step < 0x8000:  # else it was overtaken
            self.last += step
        self.came += 1
        return Gst.PadProbeReturn.OK

    def sent(self):
        return 0 if self.first is None else self.last - self.first + 1


for n in range(streams):
    p = Gst.parse_launch(
        f"udpsrc port={port + 2 * n} buffer-size={buffer} "
        'caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=H264,payload=96" '
        f"! rtpjitterbuffer name=jb latency={latency} ! rtph264depay ! h264parse ! video/x-h264,alignment=au "
        "! fakesink name=sink signal-handoffs=true sync=false"
    )
    p.get_by_name("sink").connect("handoff", frame)
    seen = Seen()
    p.get_by_name("jb").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, seen.packet)
    streams_seen.append((p, seen))
    p.set_state(Gst.State.PLAYING)

before = [0, 0, 0]
log = open(path, "a", buffering=1)


def write():
    now = [sum(x.sent() for _, x in streams_seen), sum(x.came for _, x in streams_seen), frames[0]]
    at = time.time_ns()
    for kind, new, old in zip("sdf", now, before):
        if new > old:
            log.write(f"{kind} {at} {new - old}\n")
    before[:] = now
    return True


GLib.timeout_add(100, write)
print("ready", os.getpid(), flush=True)
GLib.timeout_add_seconds(300, sys.exit)
GLib.MainLoop().run()
