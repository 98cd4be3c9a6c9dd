package sides

import (
	"container/heap"
	"net/netip"

	"snag/recording"
)

const (
	// mostKept requests are kept whole, the slowest.
	mostKept = 200
	// mostServices are counted apart in a second.
	mostServices = 500
	// lastSeconds are kept open for requests that are late to be joined.
	lastSeconds = 120
)

// exchange is one request on both captures: the client's view and the server's.
type exchange struct {
	conn   *connection
	client *turn
	server *turn
}

// client and server as the file on that side names them.
func (c *connection) client(file int) netip.AddrPort { return c.flows[file].ends[c.dir(file, request)] }
func (c *connection) server(file int) netip.AddrPort { return c.flows[file].ends[c.dir(file, answer)] }

// slowest keeps those exchanges that made their client wait longest.
type slowest []exchange

func (s slowest) Len() int           { return len(s) }
func (s slowest) Less(i, j int) bool { return s[i].waited() < s[j].waited() }
func (s slowest) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

// Push is for the heap.
func (s *slowest) Push(x any) { *s = append(*s, x.(exchange)) }

// Pop is for the heap.
func (s *slowest) Pop() any {
	old := *s
	x := old[len(old)-1]
	*s = old[:len(old)-1]
	return x
}

func (s *slowest) take(x exchange) {
	if len(*s) < mostKept {
		heap.Push(s, x)
	} else if x.waited() > (*s)[0].waited() {
		(*s)[0] = x
		heap.Fix(s, 0)
	}
}

// seconds adds all requests up by the second in which they ended.
type seconds struct {
	open  map[secondKey]*recording.RequestSecond
	n     map[recording.Time]int
	last  recording.Time
	out   recording.Sink
	shift Shift
}

type secondKey struct {
	t       recording.Time
	server  netip.AddrPort
	connect bool
}

func newSeconds(shift Shift, out recording.Sink) *seconds {
	return &seconds{shift: shift, open: map[secondKey]*recording.RequestSecond{}, n: map[recording.Time]int{}, out: out}
}

func (s *seconds) take(x exchange, near int) {
	at := recording.Time((x.ended() + s.shift[near]) / 1e9 * 1e9)
	k := secondKey{at, x.conn.server(near), x.client.connect}
	row := s.open[k]
	if row == nil {
		if s.n[at] >= mostServices {
			k.server = netip.AddrPort{}
			row = s.open[k]
		}
		if row == nil {
			row = &recording.RequestSecond{T: at, Server: k.server.String(), Connect: k.connect}
			if !k.server.IsValid() {
				row.Server = "others"
			}
			s.open[k] = row
			s.n[at]++
		}
	}
	x.count(row)
	s.last = max(s.last, at)
	if len(s.n) > 2*lastSeconds {
		s.flush(s.last - lastSeconds*1e9)
	}
}

// flush writes the seconds before a time.
func (s *seconds) flush(before recording.Time) {
	for k, row := range s.open {
		if k.t < before {
			s.out.Append(*row)
			delete(s.open, k)
			delete(s.n, k.t)
		}
	}
}
