package passive

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"snag/internal/packet"
	"snag/probes/streams/figures"
	"snag/probes/streams/passive/capture"
	"snag/probes/streams/stream"
	"snag/recording"
)

// metered is a stream with its figures.
type metered struct {
	*figures.Meter
	lost   uint64
	frames int
	events []figures.Event
}

func (m *metered) Frame(f stream.Frame) { m.frames++; m.Meter.Frame(f) }
func (m *metered) Count(c stream.Count, n uint64) {
	if c == stream.CaptureLost {
		m.lost += n
	}
	m.Meter.Count(c, n)
}

// verdict is what was told of a capture file.
type verdict struct {
	accused, doubted []string
	lost             uint64
	frames           int
	streams          int
}

// judgeFile judges packets as --read does.
func judgeFile(all []capture.Packet) (v verdict) {
	var meters []*metered
	begin := func(Conn) stream.Sink {
		m := &metered{Meter: figures.New(figures.Options{Over: true})}
		meters = append(meters, m)
		return m
	}
	w := newWatcher(Options{}, begin)
	w.all = true
	tick := func(at int64) {
		for _, m := range meters {
			m.Tick(at)
			m.events = m.Events(m.events)
		}
	}
	for i := range all {
		w.packet(&all[i])
		w.tick(all[i].At, func() capture.Stats { return capture.Stats{} })
		tick(all[i].At)
	}
	w.tcp.Close(w.last)
	for _, m := range meters {
		m.Finish(w.last)
		m.events = m.Events(m.events)
		v.lost, v.frames, v.streams = v.lost+m.lost, v.frames+m.frames, v.streams+1
		for _, e := range m.events {
			switch {
			case e.Kind == recording.EventStreamPublished, e.Kind == recording.EventStreamFirstFrame, e.Kind == recording.EventStreamEnded, e.Phase == figures.Begun, e.Phase == figures.Updated:
			case e.Doubt:
				v.doubted = append(v.doubted, fmt.Sprintf("%s %.2f at %.2f", e.Kind, e.Value, float64(e.Start)/1e9))
			default:
				v.accused = append(v.accused, fmt.Sprintf("%s %.2f at %.2f", e.Kind, e.Value, float64(e.Start)/1e9))
			}
		}
	}
	return v
}

// without leaves packets out.
func without(all []capture.Packet, drop func(i int, p *packet.Packet, at int64) bool) (out []capture.Packet) {
	for i := range all {
		var p packet.Packet
		packet.Decode(all[i].Proto, all[i].Data, all[i].Wire, &p)
		if !drop(i, &p, all[i].At) {
			out = append(out, all[i])
		}
	}
	return out
}

const paperSeconds = 30

func onPaper(isn uint32) []capture.Packet {
	p := newPaper(isn, 1e9)
	p.stream(0, paperSeconds, nil)
	return p.out
}

// Whatever the capture lost, repeated or reordered, nobody is accused, and what was
// lost is said.
func TestHolesAccuseNobody(t *testing.T) {
	all := onPaper(77)
	between := func(from, to float64) func(int, *packet.Packet, int64) bool {
		return func(_ int, _ *packet.Packet, at int64) bool { return at > int64(from*1e9) && at < int64(to*1e9) }
	}
	up := func(p *packet.Packet) bool { return p.Src == paperClient }
	r := rand.New(rand.NewPCG(4, 4))
	cases := map[string]struct {
		all    []capture.Packet
		lost   bool
		doubts bool
	}{
		"as it was":              {all, false, false},
		"half a second":          {without(all, between(10, 10.5)), true, false},
		"2.5 seconds":            {without(all, between(10, 12.5)), true, true},
		"8 seconds":              {without(all, between(10, 18)), true, true},
		"twice, 3 seconds apart": {without(without(all, between(10, 11.5)), between(14.5, 16)), true, true},
		"3 seconds of what the publisher sent": {without(all, func(_ int, p *packet.Packet, at int64) bool {
			return up(p) && at > 10e9 && at < 13e9
		}), true, true},
		"what the server sent": {without(all, func(i int, p *packet.Packet, _ int64) bool { return i > 3 && !up(p) }), false, false},
		"one way only, and 2 seconds of it": {without(all, func(i int, p *packet.Packet, at int64) bool {
			return !up(p) || at > 10e9 && at < 12e9
		}), true, true},
		"one packet in fifty":                {without(all, func(i int, p *packet.Packet, _ int64) bool { return i > 20 && r.IntN(50) == 0 }), true, false},
		"one picture's packet":               {without(all, func(i int, p *packet.Packet, _ int64) bool { return i == 3000 || i == 3001 }), false, false},
		"every fifth repeated":               {repeated(all, r), false, false},
		"reordered":                          {reordered(all, r), false, false},
		"overlapping":                        {overlapping(all), false, false},
		"over the wrap":                      {onPaper(1<<32 - 1_000_000), false, false},
		"over the wrap, and 2 seconds of it": {without(onPaper(1<<32-1_000_000), between(8, 10)), true, true},
		"cut by a snap length":               {cut(all, 200), true, false},
		"ports used again": {func() []capture.Packet {
			p := newPaper(500_000_000, all[len(all)-1].At+200e6)
			p.stream(0, 20, nil)
			return append(slices.Clone(all), p.out...)
		}(), false, false},
	}
	for name, c := range cases {
		v := judgeFile(c.all)
		if len(v.accused) > 0 {
			t.Errorf("%s: accused %v, doubted %v", name, v.accused, v.doubted)
		}
		if c.lost && v.lost == 0 {
			t.Errorf("%s: no loss is said", name)
		}
		if c.doubts != (len(v.doubted) > 0) && (c.doubts || !c.lost) {
			t.Errorf("%s: doubted %v", name, v.doubted)
		}
		t.Logf("%s: %d packets, %d frames, %d bytes lost, %d in doubt", name, len(c.all), v.frames, v.lost, len(v.doubted))
	}
}

// What did happen is told: a sender that paused, and a loss of the network that the
// receiver waited for.
func TestRealStallsAreAccused(t *testing.T) {
	p := newPaper(77, 1e9)
	p.stream(0, paperSeconds, func(i int) {
		if i == 300 {
			p.at += 4e9
		}
	})
	v := judgeFile(p.out)
	if len(v.accused) == 0 || v.lost != 0 {
		t.Errorf("a pause: accused %v, %d bytes lost", v.accused, v.lost)
	}
	// The segment was sent, lost by the network, and sent again 2 s later: the server
	// acknowledges nothing meanwhile, and everything after it waits.
	var late []capture.Packet
	all := onPaper(77)
	from := 0
	for i := range all {
		var q packet.Packet
		packet.Decode(all[i].Proto, all[i].Data, all[i].Wire, &q)
		held := from != 0 && all[i].At < all[from].At+2e9
		switch {
		case from == 0 && all[i].At > 12e9 && q.Len > 0 && q.Src == paperClient:
			from = i
		case held && q.Src == paperServer: // no acknowledgment
		case from != 0 && !held && all[from].Data != nil:
			again := all[from]
			again.At = all[i].At
			late = append(late, again, all[i])
			all[from].Data = nil
		default:
			late = append(late, all[i])
		}
	}
	v = judgeFile(late)
	if len(v.accused) == 0 || v.lost != 0 {
		t.Errorf("a loss of the network: accused %v, doubted %v, %d bytes lost", v.accused, v.doubted, v.lost)
	}
}

func repeated(all []capture.Packet, r *rand.Rand) (out []capture.Packet) {
	for i := range all {
		out = append(out, all[i])
		if i > 20 && r.IntN(5) == 0 {
			again := all[i-r.IntN(10)]
			again.At = all[i].At
			out = append(out, again)
		}
	}
	return out
}

func reordered(all []capture.Packet, r *rand.Rand) []capture.Packet {
	out := slices.Clone(all)
	for i := 20; i+4 < len(out); i++ {
		if j := i + 1 + r.IntN(3); r.IntN(10) == 0 {
			out[i], out[j] = out[j], out[i]
			out[i].At, out[j].At = out[j].At, out[i].At
		}
	}
	return out
}

// overlapping sends every tenth segment again together with some of what came before it.
func overlapping(all []capture.Packet) (out []capture.Packet) {
	var before []byte // payload of the client's last segment
	for i := range all {
		out = append(out, all[i])
		var p packet.Packet
		packet.Decode(all[i].Proto, all[i].Data, all[i].Wire, &p)
		if p.Src != paperClient || p.Len == 0 || i < 20 {
			continue
		}
		if n := min(300, len(before)); i%10 == 0 && n > 0 {
			again := all[i]
			head := slices.Clone(again.Data[:40])
			binary.BigEndian.PutUint32(head[24:], p.Seq-uint32(n))
			binary.BigEndian.PutUint16(head[2:], uint16(40+n+p.Len))
			again.Data = slices.Concat(head, before[len(before)-n:], p.Payload)
			again.Wire = len(again.Data)
			out = append(out, again)
		}
		before = p.Payload
	}
	return out
}

func cut(all []capture.Packet, most int) []capture.Packet {
	out := slices.Clone(all)
	for i := range out {
		out[i].Data = out[i].Data[:min(len(out[i].Data), most)]
	}
	return out
}
