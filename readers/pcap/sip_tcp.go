package pcap

import (
	"bytes"
	"net/netip"
	"slices"
	"strconv"

	"snag/internal/packet"
	"snag/probes/streams/passive/tcp"
)

const (
	// sipPort is that of SIP over TCP (RFC 3261, 19.1.2). Over TLS (5061) nothing can be
	// read.
	sipPort = 5060
	// maxSIP is the longest message that is put together, bytes: over UDP none is longer
	// than 64 KiB.
	maxSIP = 64 << 10
	// maxSIPPorts that are learned, beside sipPort.
	maxSIPPorts = 16
)

// sipStreams put SIP messages together that come over TCP: a message's length is in it
// (RFC 3261, 18.3), and segments cut as they like.
type sipStreams struct {
	a        *analysis
	ports    []uint16
	streams  tcp.Assembler
	begun    bool
	messages uint64
	broken   uint64 // messages that a hole, or the snap length, cut
}

func newSIPStreams(a *analysis) *sipStreams {
	s := &sipStreams{a: a, ports: []uint16{sipPort}}
	s.streams.New = func(_ int64, f tcp.Flow) (forward, back tcp.Handler) {
		return &sipStream{of: s, src: f.Src, dst: f.Dst}, &sipStream{of: s, src: f.Dst, dst: f.Src}
	}
	return s
}

// take takes a TCP packet: of SIP's port, or of one on which somebody speaks it.
func (s *sipStreams) take(at int64, p *packet.Packet) {
	if !slices.Contains(s.ports, p.Dst.Port()) && !slices.Contains(s.ports, p.Src.Port()) {
		b := bytes.TrimLeft(p.Payload, "\r\n")
		if len(b) == 0 || !sipStart(b) || len(s.ports) > maxSIPPorts {
			return
		}
		port := p.Dst.Port()
		if bytes.HasPrefix(b, []byte("SIP/2.0 ")) { // an answer comes from the server
			port = p.Src.Port()
		}
		s.ports = append(s.ports, port)
	}
	s.begun = true
	s.streams.Add(at, p)
}

func (s *sipStreams) close() {
	if s.begun {
		s.streams.Close(s.a.last)
	}
}

// sipStream is one direction of a connection.
type sipStream struct {
	of       *sipStreams
	src, dst netip.AddrPort
	held     []byte
	skip     bool // until the next message begins
}

// Data is of tcp.Handler.
func (d *sipStream) Data(at int64, b []byte) bool {
	d.held = append(d.held, b...)
	for d.next(at) {
	}
	return true
}

// next takes a message off the front of what is held; false where none is whole.
func (d *sipStream) next(at int64) bool {
	b := bytes.TrimLeft(d.held, "\r\n") // between messages: kept alive so (RFC 5626, 3.5.1)
	if d.skip || len(b) >= 24 && !sipStart(b) {
		from := resume(b)
		if from < 0 {
			d.keep(b[max(0, len(b)-24):])
			d.skip = true
			return false
		}
		b, d.skip = b[from:], false
	}
	head := bytes.Index(b, []byte("\r\n\r\n"))
	if head < 0 {
		return d.more(b, 0)
	}
	length, ok := contentLength(b[:head])
	if !ok { // it must have one (18.3); what follows can't be told from its body
		d.of.broken++
		d.keep(b[head+4:])
		d.skip = true
		return len(d.held) > 0
	}
	end := head + 4 + length
	if end > len(b) {
		return d.more(b, end)
	}
	d.of.messages++
	d.of.a.datagrams.calls.take(&d.of.a.datagrams, at, d.src, d.dst, b[:end])
	d.keep(b[end:])
	return len(d.held) > 0
}

// more waits for the rest of a message of so many bytes, 0: not known, unless that is
// longer than any.
func (d *sipStream) more(b []byte, end int) bool {
	d.keep(b)
	if len(b) > maxSIP || end > maxSIP {
		d.of.broken++
		d.skip, d.held = true, d.held[:0]
	}
	return false
}

func (d *sipStream) keep(b []byte) { d.held = append(d.held[:0], b...) }

// Hole is of tcp.Handler: the message that it lies in is lost.
func (d *sipStream) Hole(int64, int64) bool {
	d.of.broken++
	d.skip, d.held = true, d.held[:0]
	return true
}

// Closed is of tcp.Handler.
func (d *sipStream) Closed(int64, string) { d.held = nil }

// resume finds where a message begins, behind what can't be read; −1: nowhere.
func resume(b []byte) int {
	for at := 0; at < len(b); {
		if sipStart(b[at:]) {
			return at
		}
		i := bytes.Index(b[at:], []byte("\r\n"))
		if i < 0 {
			return -1
		}
		at += i + 2
	}
	return -1
}

// contentLength reads the header of that name, or its compact form (RFC 3261, 20.14).
func contentLength(head []byte) (int, bool) {
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\r\n"))
		name, value, ok := bytes.Cut(line, []byte(":"))
		if name = bytes.TrimSpace(name); !ok || !bytes.EqualFold(name, []byte("Content-Length")) && !bytes.EqualFold(name, []byte("l")) {
			continue
		}
		n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
		return n, err == nil && n >= 0 && n <= maxSIP
	}
	return 0, false
}
