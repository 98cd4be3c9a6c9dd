package sides

import (
	"cmp"
	"context"
	"net/netip"

	"snag/internal/sorting"
	"snag/recording"
)

// Call is one system call of the server's host that moved bytes over a connection.
type Call struct {
	PID        int
	Comm       string
	Remote     string // address:port of the connection's other end
	Read       bool   // else it wrote
	Begin, End int64  // Unix ns, by the clock of the server's capture
}

// Calls gives all calls that are known, in order of time for each connection.
type Calls func(ctx context.Context, each func(Call)) error

const (
	// early is by how much a call may seem to come after the packet that it must come before: a
	// tracer takes its times beside the call, in microseconds.
	early = int64(200e3)
	// stampedLate is by how much a read may seem to return before its packet came: a busy host
	// notes late when a packet came (2.9 ms were seen).
	stampedLate = int64(5e6)
)

// inside is what a server's process did with one request.
type inside struct {
	read, written int64 // the read that gave its last byte returned; the first write of its answer began
	pid           int
	comm          string
}

// insideOf finds the calls of exchanges; nil where none are known. An exchange that
// overlaps with others has calls that could be any one's.
func insideOf(ctx context.Context, all []exchange, calls Calls) []inside {
	if calls == nil {
		return nil
	}
	out := make([]inside, len(all))
	by := map[string][]int{}
	for i := range all {
		x := &all[i]
		if x.server.connect || x.server.parts > 1 || x.server.last[request] == 0 {
			continue
		}
		at := x.conn.client(1 - x.conn.near)
		for _, name := range spellings(at) {
			by[name] = append(by[name], i)
		}
	}
	for _, of := range by {
		sorting.By(of, func(a, b int) int { return cmp.Compare(all[a].server.last[request], all[b].server.last[request]) })
	}
	if err := calls(ctx, func(c Call) {
		for _, i := range by[c.Remote] {
			out[i].take(c, all[i].server)
		}
	}); err != nil {
		return nil // the reader of the trace says so
	}
	return out
}

// spellings are how a tracer may write an address: a socket of IPv6 that takes calls over
// IPv4 has it mapped (RFC 4291, 2.5.5.2).
func spellings(a netip.AddrPort) []string {
	if !a.Addr().Is4() {
		return []string{a.String()}
	}
	mapped := netip.AddrPortFrom(netip.AddrFrom16(a.Addr().As16()), a.Port())
	return []string{a.String(), mapped.String()}
}

// take takes the next call of the connection. The last read before the answer left gave the request's
// last byte.
func (n *inside) take(c Call, s *turn) {
	came, left := s.last[request], s.first[answer]
	switch {
	case c.Read && c.End >= came-stampedLate && (left == 0 && n.read == 0 || left != 0 && c.End <= left+early):
		n.read, n.written, n.pid, n.comm = c.End, 0, c.PID, c.Comm
	case !c.Read && n.read != 0 && n.written == 0 && c.Begin >= n.read-early && (left == 0 || c.Begin <= left+early):
		n.written = c.Begin
	}
}

// into adds it to the exchange's row.
func (n *inside) into(r *recording.Request, x *exchange) {
	if n.read == 0 {
		return
	}
	unread := seconds64(max(0, n.read-x.server.last[request]))
	r.Unread, r.PID, r.Comm, r.InsideBy = &unread, n.pid, n.comm, "trace"
	if n.written == 0 {
		return
	}
	within := seconds64(max(0, n.written-n.read))
	r.Inside = &within
	if x.server.first[answer] != 0 {
		unsent := seconds64(max(0, x.server.first[answer]-n.written))
		r.Unsent = &unsent
	}
}
