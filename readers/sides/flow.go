package sides

import (
	"net/netip"

	"snag/internal/packet"
)

// flow is one connection as one capture has it. Direction request is from ends[0],
// who opened it, to ends[1].
type flow struct {
	ends    [2]netip.AddrPort
	isn     [2]uint32 // of the SYN and of its answer, where they were seen
	syn     [2]bool
	synAt   [2]int64
	stamp   [2]uint32 // TSval of both; 0: none
	begin   [2]uint32 // sequence number of the first segment
	low     [2]int64  // lowest and highest byte, counted from begin
	high    [2]int64
	any     [2]bool
	fin     [2]bool
	prefix  [2]uint64  // hash of the first bytes of payload; 0: none was captured
	guessed bool       // who opened it was not seen
	sketch  *[2]sketch // nil: of the connections beyond mostSketches
}

// note adds a segment.
func (f *flow) note(s *Segment, dir int) {
	if s.has(packet.RST) {
		return
	}
	seq := s.Seq
	if s.has(packet.SYN) {
		if !f.syn[dir] {
			f.syn[dir], f.isn[dir], f.synAt[dir] = true, s.Seq, s.T
			if s.Stamped {
				f.stamp[dir] = s.TSVal
			}
		}
		seq++
	}
	if !f.any[dir] {
		f.any[dir], f.begin[dir] = true, seq
	}
	at := f.high[dir] + int64(int32(seq-(f.begin[dir]+uint32(f.high[dir]))))
	f.low[dir] = min(f.low[dir], at)
	f.high[dir] = max(f.high[dir], at+int64(s.Len))
	f.fin[dir] = f.fin[dir] || s.has(packet.FIN)
	if f.prefix[dir] == 0 && f.syn[dir] && seq == f.isn[dir]+1 && len(s.Payload) > 0 && s.Len > 0 {
		f.prefix[dir] = hash(s.Payload[:min(len(s.Payload), 16)])
	}
	if f.sketch != nil && !s.has(packet.SYN) {
		f.sketch[dir].note(s)
	}
}

// hash is FNV-1a (RFC 9923), never 0.
func hash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h | 1
}

// index finds the connections of one capture. It is run over a file twice, and
// counts them the same both times.
type index struct {
	flows   []*flow // nil: not kept
	live    map[ends]int
	servers map[netip.AddrPort]bool // who was seen to be called
	most    int
	dropped uint64 // connections beyond most
	passed  bool   // only count: the flows are known

	first, last int64 // of all segments

	only func(*packet.Packet) bool // which packets are looked at; nil: all
}

type ends struct{ a, b netip.AddrPort }

// mostFlows of a capture are compared with the other's.
const mostFlows = 1 << 16

func newIndex(most int) *index {
	return &index{live: map[ends]int{}, servers: map[netip.AddrPort]bool{}, most: most}
}

// again begins the second run over the same file.
func (x *index) again() *index {
	return &index{live: map[ends]int{}, servers: map[netip.AddrPort]bool{}, most: x.most, flows: x.flows, passed: true, only: x.only}
}

// find reports which connection a segment is of, and its direction; -1: none that is
// kept.
func (x *index) find(s *Segment, count *int) (id, dir int) {
	k := ends{s.Src, s.Dst}
	back := s.Dst.Addr().Less(s.Src.Addr()) || s.Src.Addr() == s.Dst.Addr() && s.Dst.Port() < s.Src.Port()
	if back {
		k = ends{s.Dst, s.Src}
	}
	id, ok := x.live[k]
	opens := s.has(packet.SYN) && !s.has(packet.ACK)
	if ok && (!opens || !x.renews(id, s)) {
		if x.flows[id].ends[0] == s.Src {
			return id, request
		}
		return id, answer
	}
	if *count >= x.most {
		x.dropped++
		return -1, 0
	}
	id = *count
	*count++
	x.live[k] = id
	if !x.passed {
		x.flows = append(x.flows, x.opened(s))
	}
	f := x.flows[id]
	if opens {
		x.servers[s.Dst] = true
	}
	return id, side(f.ends[0] == s.Src)
}

// renews: a SYN with another number is another connection.
func (x *index) renews(id int, s *Segment) bool {
	f := x.flows[id]
	if f.ends[0] != s.Src || !f.syn[request] && !f.syn[answer] {
		return true
	}
	return f.syn[request] && f.isn[request] != s.Seq
}

// opened makes a connection of its first segment.
func (x *index) opened(s *Segment) *flow {
	f := &flow{ends: [2]netip.AddrPort{s.Src, s.Dst}}
	if len(x.flows) < mostSketches {
		f.sketch = new([2]sketch)
	}
	switch {
	case s.has(packet.SYN) && !s.has(packet.ACK):
		return f
	case s.has(packet.SYN), x.servers[s.Src] && !x.servers[s.Dst]:
		f.ends = [2]netip.AddrPort{s.Dst, s.Src}
		f.guessed = !s.has(packet.SYN)
	default:
		// Ports of callers are high ones (RFC 6056; Linux: from 32768 on).
		f.guessed = true
		if !x.servers[s.Dst] && s.Src.Port() < s.Dst.Port() {
			f.ends = [2]netip.AddrPort{s.Dst, s.Src}
		}
	}
	return f
}
