package passive

import (
	"snag/probes/streams/passive/capture"
	"snag/probes/streams/stream"
)

// Feed judges the packets of a file that somebody else reads.
type Feed struct {
	w       *watcher
	packets uint64
}

// NewFeed begins to judge packets of o.Ports (none: of all that it is given), as
// ReadFile does a file's.
func NewFeed(o Options, newSink func(Conn) stream.Sink) *Feed {
	w := newWatcher(o, newSink)
	w.ports, w.all = o.Ports, len(o.Ports) == 0
	return &Feed{w: w}
}

// Packet takes the next packet; its data are good until it returns.
func (f *Feed) Packet(p *capture.Packet) {
	f.packets++
	f.w.packet(p)
	f.w.tick(p.At, func() capture.Stats { return capture.Stats{Packets: f.packets} })
}

// Close ends the connections, and says what was seen and missed.
func (f *Feed) Close() Stats {
	f.w.tcp.Close(f.w.last)
	return Stats{Capture: capture.Stats{Packets: f.packets}, TCP: f.w.tcp.Stats, Streams: f.w.streams}
}
