package logs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/netip"

	"snag/internal/stamp"
	"snag/readers/reader"
)

// Ends are the ends of connections that a log names, and when. A connection that the logs
// of both its hosts name reports how their clocks compare: nobody hears of what was not done
// yet.
type Ends struct {
	of map[netip.AddrPort]*mention
	// grain of the log's times, ns: a line is written up to so much later than it says.
	grain int64
}

// mention is what lines tell of one end. Times are Unix ns of the log's clock; 0: never.
type mention struct {
	first        int64 // any line
	opened       int64 // its host begins to connect
	opens        int   // how often: a port that was used again is of no use
	closes       int64 // the last line by which its writer ends it
	closed       int64 // the first line by which its writer hears that the other ended it
	closings     int   // how often it was ended
	heardAnswer  int64 // the first line by which its writer hears an answer
	givesAnswers int64 // the first line by which its writer answers
}

const (
	// chosen ports: those that a system takes for who calls (Linux from 32768 on, others
	// from 49152, RFC 6335), so that a service's own address is taken for no connection.
	chosen = 32768
	// mostEnds of a log are remembered, and mostLooked bytes of it looked at.
	mostEnds   = 20_000
	mostLooked = 256 << 20
)

// said is what a line tells of who does what.
type said uint8

const (
	saidNothing said = iota
	saidOpening
	saidClosing
	saidClosed
	saidAnswering
	saidAnswered
)

// words tell what a line's writer did or heard, the most particular first.
var words = []struct {
	text string
	said said
}{
	{"closed by", saidClosed}, {"reset by peer", saidClosed}, {"peer closed", saidClosed}, {"remote closed", saidClosed}, {"eof", saidClosed},
	{"publish accepted", saidAnswering}, {"accepting publish", saidAnswering}, {"sent answer", saidAnswering}, {"sending answer", saidAnswering},
	{"publish started", saidAnswered}, {"publish ok", saidAnswered}, {"got answer", saidAnswered}, {"answer received", saidAnswered},
	{"connecting", saidOpening}, {"dialing", saidOpening}, {"connect to ", saidOpening},
	{"closing", saidClosing}, {"kicking", saidClosing}, {"disconnecting", saidClosing},
}

// whatSaid finds the words in a line's beginning.
func whatSaid(line []byte) said {
	lower := bytes.ToLower(line[:min(len(line), 1<<10)])
	for _, w := range words {
		if !bytes.Contains(lower, []byte(w.text)) {
			continue
		}
		if w.said == saidOpening && !bytes.Contains(lower, []byte(" to ")) && !bytes.Contains(lower, []byte("->")) {
			return saidNothing // "client connecting": it is told of another
		}
		return w.said
	}
	return saidNothing
}

// ReadEnds looks through a log for ends of connections.
func ReadEnds(ctx context.Context, in *reader.Input, o reader.Options) (Ends, error) {
	out := Ends{of: map[netip.AddrPort]*mention{}, grain: 1e9}
	clock := stamp.New(o.Zone, o.Modified)
	form := formOf(in.Head(), clock)
	if form == nil || isExport(in.Head()) {
		return out, nil
	}
	lines := reader.NewLines(in)
	looked := 0
	for n := 0; looked < mostLooked; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return out, ctx.Err()
		}
		line, _, err := lines.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		looked += len(line) + 1
		out.line(form, &clock, line)
	}
	return out, nil
}

func (x *Ends) line(f *form, clock *stamp.Clock, line []byte) {
	if bytes.IndexByte(line, ':') < 0 {
		return
	}
	var found [4]netip.AddrPort
	n := endsIn(line, found[:])
	if n == 0 {
		return
	}
	var e entry
	e.clear()
	message, ok := f.open(clock, line, &e)
	if !ok || e.at == 0 {
		return
	}
	for g := x.grain; g > 1 && e.at%g != 0; g = x.grain {
		x.grain = g / 1000
	}
	what := whatSaid(message)
	for _, end := range found[:n] {
		x.add(end, e.at, what)
	}
}

func (x *Ends) add(end netip.AddrPort, at int64, what said) {
	m := x.of[end]
	if m == nil {
		if len(x.of) >= mostEnds {
			return
		}
		m = &mention{first: at}
		x.of[end] = m
	}
	m.first = min(m.first, at)
	earliest := func(t *int64) {
		if *t == 0 || at < *t {
			*t = at
		}
	}
	switch what {
	case saidOpening:
		m.opens++
		earliest(&m.opened)
	case saidClosing:
		m.closings++
		m.closes = max(m.closes, at)
	case saidClosed:
		earliest(&m.closed)
	case saidAnswering:
		m.givesAnswers = max(m.givesAnswers, at)
	case saidAnswered:
		earliest(&m.heardAnswer)
	}
}

// endsIn finds addresses with ports that a system chooses: 10.0.0.7:51234,
// [2001:db8::7]:51234.
func endsIn(line []byte, out []netip.AddrPort) (n int) {
	for at := 0; at < len(line) && n < len(out); at++ {
		if line[at] != ':' || at == 0 || at+6 > len(line) {
			continue
		}
		to := at + 1
		for to < len(line) && to-at <= 6 && line[to] >= '0' && line[to] <= '9' {
			to++
		}
		if to-at != 6 { // five digits
			continue
		}
		from := at
		if line[at-1] == ']' {
			from = max(bytes.LastIndexByte(line[:at], '['), 0)
		} else {
			for from > 0 && (line[from-1] >= '0' && line[from-1] <= '9' || line[from-1] == '.') {
				from--
			}
		}
		if from == at || to-from > 60 {
			continue
		}
		end, err := netip.ParseAddrPort(string(line[from:to]))
		if err != nil || end.Port() < chosen || end.Addr().IsLoopback() {
			continue
		}
		out[n] = netip.AddrPortFrom(end.Addr().Unmap(), end.Port())
		n++
		at = to
	}
	return n
}

// Tie is how far another log's clock may be ahead of this one's, s, by the connections
// that both name; n is how many of these tell something. A bound that nothing gives is
// infinite.
func (x Ends) Tie(y Ends) (low, high float64, n int) {
	low, high = math.Inf(-1), math.Inf(1)
	grain := float64(max(x.grain, y.grain)) / 1e9
	for end, a := range x.of {
		b := y.of[end]
		if b == nil || a.opens > 1 || b.opens > 1 || a.opens+b.opens > 1 {
			continue
		}
		told := false
		// What the one did at from the other heard at to: high bounds y's clock, low x's.
		above := func(from, to int64) {
			if from != 0 && to != 0 {
				high, told = math.Min(high, float64(to-from)/1e9+grain), true
			}
		}
		below := func(from, to int64) {
			if from != 0 && to != 0 {
				low, told = math.Max(low, -float64(to-from)/1e9-grain), true
			}
		}
		if a.opened != 0 { // the other knows nothing of it before
			above(a.opened, b.first)
		}
		if b.opened != 0 {
			below(b.opened, a.first)
		}
		if a.closings == 1 {
			above(a.closes, b.closed)
		}
		if b.closings == 1 {
			below(b.closes, a.closed)
		}
		above(a.givesAnswers, b.heardAnswer)
		below(b.givesAnswers, a.heardAnswer)
		if told {
			n++
		}
	}
	return low, high, n
}

// Empty reports that the log names no connection.
func (x Ends) Empty() bool { return len(x.of) == 0 }
