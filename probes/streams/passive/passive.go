// Package passive gives the figures of live streams from the traffic of this host,
// with no reader of its own: what each publisher sent and what each reader was
// sent, as frames. It takes packets of interfaces or of a capture file, puts TCP
// connections in order, and follows RTMP and RTSP in them. It keeps headers, never payload.
package passive

import (
	"context"
	"errors"
	"slices"
	"time"

	"snag/internal/netns"
	"snag/internal/packet"
	"snag/probes/streams/passive/capture"
	"snag/probes/streams/passive/chunks"
	"snag/probes/streams/passive/tcp"
	"snag/probes/streams/rtp"
	"snag/probes/streams/stream"
)

// Ports are those that are watched where none are given: IANA's of RTMP and RTSP,
// and the one that RTSP servers use without root.
var Ports = []uint16{1935, 554, 8554}

// Options are what to watch.
type Options struct {
	Iface string        // "" is all interfaces
	Ports []uint16      // none: Ports; in a file, of every port
	Netns *netns.Handle // nil is snag's own
	// Tick is called on the goroutine that calls the sinks, about every 100 ms of
	// the capture, with the clock of the frames; may be nil.
	Tick func(at int64)
	// Stats is called every second of the capture and at its end; may be nil.
	Stats func(Stats)
	// ToPorts: only what is sent to the ports, which publishers send to servers.
	ToPorts bool
	// Blocks is the capture's ring in MiB; 0: capture's own.
	Blocks int
}

// Stats are what was seen and missed so far.
type Stats struct {
	Capture capture.Stats
	TCP     tcp.Stats
	Streams int // that were begun
}

// Run watches this host's traffic until ctx ends; then it returns nil. newSink is
// called for each direction of a connection that carries a stream, on the one
// goroutine that also calls the sinks; frames come at the kernel's time of the
// packet that completed them, on the monotonic clock. A Sink may also be a Renamed
// and an Ender.
func Run(ctx context.Context, o Options, newSink func(Conn) stream.Sink) error {
	w := newWatcher(o, newSink)
	ports := o.Ports
	if len(ports) == 0 {
		ports = Ports
	}
	var ring *capture.Ring
	ring, err := capture.Open(capture.Options{
		Iface: o.Iface, Ports: ports, Netns: o.Netns, Blocks: o.Blocks, To: o.ToPorts, Lost: w.missed,
		Tick: func(at int64) {
			w.tick(at, func() capture.Stats { return ring.Stats() })
		},
	})
	if err != nil {
		return err
	}
	defer ring.Close()
	w.more = func(learned []uint16) {
		// Without room for them the streams over UDP are not seen; those over TCP are.
		_ = ring.SetPorts(append(slices.Clone(ports), learned...))
	}
	err = ring.Run(ctx, w.packet)
	w.stats(ring.Stats())
	return err
}

// ReadFile judges a pcap or pcapng file as Run would have judged the traffic; the
// frames' clock is the file's own, ns since 1970. What a torn file has is judged
// too, and the error is a *capture.TornError.
func ReadFile(ctx context.Context, name string, o Options, newSink func(Conn) stream.Sink) error {
	w := newWatcher(o, newSink)
	w.ports, w.all = o.Ports, len(o.Ports) == 0
	var packets uint64
	err := capture.ReadFile(name, func(p *capture.Packet) {
		if ctx.Err() != nil {
			return
		}
		packets++
		w.packet(p)
		w.tick(p.At, func() capture.Stats { return capture.Stats{Packets: packets} })
	})
	if ctx.Err() != nil {
		return nil
	}
	w.tcp.Close(w.last)
	w.stats(capture.Stats{Packets: packets})
	return err
}

// watcher is one capture being followed.
type watcher struct {
	o        Options
	newSink  func(Conn) stream.Sink
	ports    []uint16
	all      bool
	tcp      tcp.Assembler
	pool     chunks.Pool
	last     int64 // of the latest packet
	ticked   int64
	reported int64
	streams  int
	sessions map[*rtp.Session]bool // of RTP, which wait for packets
	udp      map[udpFlow]*datagrams
	more     func(ports []uint16) // captures these too; nil: all are
	sinks    map[any]stream.Sink  // by the side that they are of
}

func newWatcher(o Options, newSink func(Conn) stream.Sink) *watcher {
	w := &watcher{o: o, newSink: newSink, ports: o.Ports, sessions: map[*rtp.Session]bool{}, udp: map[udpFlow]*datagrams{}, sinks: map[any]stream.Sink{}}
	if len(w.ports) == 0 {
		w.ports = Ports
	}
	w.tcp.New = w.connection
	return w
}

func (w *watcher) packet(c *capture.Packet) {
	var p packet.Packet
	if !packet.Decode(c.Proto, c.Data, c.Wire, &p) {
		return
	}
	w.last = max(w.last, c.At)
	if p.Proto == packet.UDP {
		w.datagram(c.At, &p)
		return
	}
	if p.Proto == packet.TCP && (w.all || serves(p.Src.Port(), w.ports) || serves(p.Dst.Port(), w.ports)) {
		w.tcp.Add(c.At, &p)
	}
}

// connection makes the handlers of a connection's two directions.
func (w *watcher) connection(_ int64, f tcp.Flow) (forward, back tcp.Handler) {
	p := &pair{w: w, f: f}
	for i := range p.sides {
		p.sides[i] = direction{p, i}
	}
	return &p.sides[0], &p.sides[1]
}

// known are the ports of servers.
func (w *watcher) known() []uint16 {
	if len(w.ports) == 0 {
		return Ports
	}
	return w.ports
}

// begin makes the sink of a direction of a connection; of is that direction.
func (w *watcher) begin(at int64, c Conn, of any) stream.Sink {
	w.streams++
	s := w.newSink(c)
	s.Published(at, c.Local, c.Remote)
	w.sinks[of] = s
	return s
}

// missed tells every stream that packets found no room between two times: whose
// they were is not known before its next packet comes, if one does.
func (w *watcher) missed(from, to int64, _ uint64) {
	for of, s := range w.sinks {
		if r, ok := of.(*rtspSide); ok && r.sink != nil {
			s = r.sink // RTP's sequence will show it too
		}
		stream.Missed(s, from, to)
	}
}

// renamed tells the sinks of a connection its name, when it came after the media.
func (w *watcher) renamed(s *rtmpSide) {
	if s.sink == nil {
		return
	}
	s.as = s.c.conn(s.toServer)
	if r, ok := s.sink.(Renamed); ok {
		r.Renamed(s.as)
	}
}

// whys are the ends of a connection in words.
var whys = map[string]string{
	"FIN":     "the connection was closed",
	"RST":     "the connection was reset",
	"silence": "nothing came over the connection for minutes",
	"room":    "too many connections to follow",
	"reused":  "its ports belong to another connection now",
}

func (w *watcher) ended(at int64, of any, c Conn, why string) {
	s := w.sinks[of]
	delete(w.sinks, of)
	if why == "capture" {
		return // it went on, as far as anyone knows
	}
	if e, ok := s.(Ender); ok {
		e.End(at, &stream.Ended{URL: c.Name, Why: whys[why]})
	}
}

// tick paces what is not the packets' own doing.
func (w *watcher) tick(at int64, read func() capture.Stats) {
	const every = int64(100 * time.Millisecond)
	if at-w.ticked < every && at >= w.ticked {
		return
	}
	w.ticked = at
	w.tcp.Expire(at)
	w.expireUDP(at)
	for s := range w.sessions {
		s.Tick(at)
	}
	if w.o.Tick != nil {
		w.o.Tick(at)
	}
	if w.o.Stats != nil && (at-w.reported >= int64(time.Second) || at < w.reported) {
		w.reported = at
		w.stats(read())
	}
}

func (w *watcher) stats(c capture.Stats) {
	if w.o.Stats != nil {
		w.o.Stats(Stats{Capture: c, TCP: w.tcp.Stats, Streams: w.streams})
	}
}

// Torn tells a capture file that ended early from one that could not be read.
func Torn(err error) bool {
	var t *capture.TornError
	return errors.As(err, &t)
}
