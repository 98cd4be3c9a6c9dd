package pcap

import (
	"net/netip"

	"snag/recording"
)

// Roles of a row that counts connections between two ends.
type role uint8

const (
	roleAccept role = iota
	roleConnect
)

// pairKey is a server and a client's address, told from one end.
type pairKey struct {
	role   role
	server netip.AddrPort
	client netip.Addr
}

// pair counts a second of them.
type pair struct {
	recording.Connections
	serve, call recording.Turns
	hist        [2][64]uint64
}

// mostPairs bounds a second's rows: what is beyond is counted with "others".
const mostPairs = 1024

func (a *analysis) pair(c *conn, r role) *pair {
	k := pairKey{r, c.addr(c.server()), c.addr(1 - c.server()).Addr()}
	p := a.pairs[k]
	if p == nil {
		if len(a.pairs) >= mostPairs {
			k.client = netip.Addr{}
			if p = a.pairs[k]; p != nil {
				return p
			}
			if len(a.pairs) >= 2*mostPairs {
				k.server = netip.AddrPort{}
				if p = a.pairs[k]; p != nil {
					return p
				}
			}
		}
		p = &pair{}
		a.pairs[k] = p
	}
	return p
}

// hand is the second's row of a server's handshakes.
func (a *analysis) hand(_ int64, c *conn) *recording.Handshakes {
	at := c.addr(c.server())
	h := a.hands[at]
	if h == nil {
		if len(a.hands) >= mostPairs {
			at = netip.AddrPort{}
			if h = a.hands[at]; h != nil {
				return h
			}
		}
		h = &recording.Handshakes{}
		a.hands[at] = h
	}
	return h
}

// opening counts a connection's first SYN.
func (a *analysis) opening(at int64, c *conn) {
	a.count.Connections++
	a.hand(at, c).SYNs++
}

// late is a handshake that no path takes so long for: a SYN is sent again after 1 s
// (RFC 6298, 2.1).
const late = int64(900e6)

// opened counts a handshake that is complete.
func (a *analysis) opened(at int64, c *conn) {
	took := c.hand.took()
	h := a.hand(at, c)
	h.Opened++
	if c.hand.syn != 0 && (took >= late || c.hand.syns > 1) {
		h.Late++
		h.LateMax = max(h.LateMax, seconds(took))
	}
	for _, r := range []role{roleAccept, roleConnect} {
		p := a.pair(c, r)
		p.Opened++
		if c.hand.syn != 0 {
			p.Handshake += seconds(took)
			p.HandshakeMax = max(p.HandshakeMax, seconds(took))
		}
	}
}

// closing counts a connection that is over.
func (a *analysis) closing(c *conn) {
	if c.hand.refused {
		return
	}
	server, client := &c.half[c.server()], &c.half[1-c.server()]
	for _, r := range []role{roleAccept, roleConnect} {
		p := a.pair(c, r)
		p.Closed++
		p.Lifetime += seconds(c.done - c.first)
		if c.done-c.first < second && c.hand.syn != 0 {
			p.Short++
		}
		in, out := client.fresh, server.fresh
		if r == roleConnect {
			in, out = out, in
		}
		p.BytesIn += in
		p.BytesOut += out
	}
}

// turned counts a turn that was answered: as the client saw it, and as the server's
// own time where the capture lies so close to it that the way counts for nothing.
func (a *analysis) turned(c *conn, t *turn) {
	p := a.pair(c, roleConnect)
	count(&p.call, &p.hist[1], t.answering-t.asked)
	if c.nearServer() {
		p = a.pair(c, roleAccept)
		count(&p.serve, &p.hist[0], t.answered-t.asked)
	}
}

// waiting counts a request without an answer so far.
func (a *analysis) waiting(c *conn, at int64) {
	age := seconds(at - c.turn.asked)
	p := a.pair(c, roleConnect)
	p.call.Open++
	p.call.Oldest = max(p.call.Oldest, age)
	if c.nearServer() {
		p = a.pair(c, roleAccept)
		p.serve.Open++
		p.serve.Oldest = max(p.serve.Oldest, age)
	}
}

// nearServer reports whether the capture lies at the server: the way there takes a
// quarter of the whole at most.
func (c *conn) nearServer() bool {
	w := &c.hand
	if w.syn == 0 || w.synAck == 0 || w.ack == 0 {
		return false
	}
	return 4*(w.synAck-w.syn) <= w.took() || w.took() < 1e6
}

func count(t *recording.Turns, hist *[64]uint64, d int64) {
	d = max(d, 0)
	t.N++
	t.Sum += seconds(d)
	t.Max = max(t.Max, seconds(d))
	i := 0
	for i+1 < len(hist) && recording.TurnBound(i+1) <= seconds(d) {
		i++
	}
	hist[i]++
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// flushPairs writes what was counted by pairs.
func (a *analysis) flushPairs() {
	t := recording.Time(a.now)
	for k, p := range a.pairs {
		server, client := k.server.String(), k.client.String()
		if !k.client.IsValid() {
			client = "others"
		}
		if !k.server.IsValid() {
			server = "others"
		}
		local, remote, name := server, client, "accept"
		if k.role == roleConnect {
			local, remote, name = client, server, "connect"
		}
		if row := p.Connections; row.Opened+row.Failed+row.Closed > 0 {
			row.T, row.Netns, row.Role, row.Local, row.Remote = t, a.netns, name, local, remote
			a.out.Append(row)
		}
		row, hist, turns := p.serve, p.hist[0][:], "serve"
		if k.role == roleConnect {
			row, hist, turns = p.call, p.hist[1][:], "call"
		}
		if row.N+row.Open+row.Cut > 0 {
			row.T, row.Netns, row.Role, row.Local, row.Remote = t, a.netns, turns, local, remote
			last := len(hist)
			for last > 0 && hist[last-1] == 0 {
				last--
			}
			row.Hist = hist[:last]
			a.out.Append(row)
		}
		delete(a.pairs, k)
	}
	for at, h := range a.hands {
		row := *h
		row.T, row.Netns, row.Server = t, a.netns, at.String()
		if !at.IsValid() {
			row.Server = "others"
		}
		a.out.Append(row)
		delete(a.hands, at)
	}
	for k, n := range a.resets {
		a.out.Append(recording.Reset{T: t, Dir: "sent", Netns: a.netns, Local: k.from.String(), Remote: k.to.String(), State: k.state, N: n})
		delete(a.resets, k)
	}
}

// resetKey is who reset whom.
type resetKey struct {
	from, to netip.AddrPort
	state    string
}

// reset counts a reset by its sender. A client's port is left out where many reset.
func (a *analysis) reset(_ int64, c *conn, side int, state string) {
	k := resetKey{c.addr(side), c.addr(1 - side), state}
	if len(a.resets) >= mostPairs {
		if side == c.server() {
			k.to = netip.AddrPortFrom(k.to.Addr(), 0)
		} else {
			k.from = netip.AddrPortFrom(k.from.Addr(), 0)
		}
	}
	if len(a.resets) < 4*mostPairs || a.resets[k] > 0 {
		a.resets[k]++
	}
}
