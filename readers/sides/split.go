package sides

import "snag/recording"

// parts of what a client waited for, ns (docs/readers/sides.md).
func (x *exchange) waited() int64 {
	c := x.client
	wait := c.between
	if x.unanswered() != "" {
		wait = max(0, c.closedAt-c.last[request])
		if x.stillThere() { // the one capture may go on for longer than the other
			wait = min(wait, max(0, x.server.closedAt-x.server.last[request]))
		}
	} else if max(c.parts, x.server.parts) > 1 { // of requests that overlap the client may wait for several at a time
		wait = max(wait, min(x.server.between, c.last[answer]-c.first[request]))
	}
	return wait + x.stood() + x.shutOut() + x.stall(request) + x.stall(answer)
}

// stood is how long the answer paused though more of it was due: the server had sent
// all that it had.
func (x *exchange) stood() int64 {
	if x.server.stood == 0 && x.client.stood > 0 { // only the client's capture shows the head
		return min(x.client.stood, x.server.held[answer])
	}
	return x.server.stood
}

// shutOut is how long the server took nothing more of the request.
func (x *exchange) shutOut() int64 {
	if s := x.client.shut[request]; s >= longGap {
		return s
	}
	return 0
}

// stall is how long a direction's bytes did not come though their sender was not the
// reason.
func (x *exchange) stall(dir int) int64 {
	from, to := x.client, x.server
	if dir == answer {
		from, to = to, from
	}
	return max(0, to.quiet[dir]-from.held[dir]-from.shut[dir])
}

// atServer is what of the wait passed at the server.
func (x *exchange) atServer() int64 {
	s := x.server
	at := s.between
	switch why := x.unanswered(); {
	case why == lost:
		at = 0
	case why != "" && s.first[answer] == 0:
		at = max(0, s.closedAt-s.last[request])
	}
	return min(at+x.stood()+x.shutOut(), x.waited())
}

// paused is what the client let pass itself.
func (x *exchange) paused() int64 { return x.client.held[request] + x.server.shut[answer] }

// lost: the request never came to the server whole.
const lost = "lost"

func (x *exchange) unanswered() string {
	c, s := x.client, x.server
	if c.first[answer] != 0 {
		return ""
	}
	switch {
	case s.first[request] == 0 || s.hole[request] > 0:
		return lost
	case c.end == closed:
		return "closed"
	case c.end == reset:
		return "reset"
	}
	return "open"
}

// stillThere: the server has not answered when the captures end.
func (x *exchange) stillThere() bool {
	return x.unanswered() == "open" && x.server.first[answer] == 0
}

// ended is when it was over, by the client's capture.
func (x *exchange) ended() int64 {
	if x.unanswered() != "" {
		return x.client.closedAt
	}
	return x.client.last[answer]
}

// torn reports that a capture lacks bytes of it: its times could be anything.
func (x *exchange) torn() bool {
	for _, t := range []*turn{x.client, x.server} {
		if t.end == answered && (t.hole[request] > 0 || t.hole[answer] > 0) {
			return true
		}
	}
	return x.client.first[request] == 0
}

// losses are the segments that were lost on a way: those sent again that came once.
func (x *exchange) losses(dir int) int {
	from, to := x.client, x.server
	if dir == answer {
		from, to = to, from
	}
	if !x.client.connect && from.again[dir] <= to.again[dir] {
		return 0
	}
	n := from.repeats[dir] - to.repeats[dir]
	if !x.client.connect {
		n = max(n, 1)
	}
	return max(0, n)
}

// ways parts the network's time into the two ways, each with what it may be off by.
// Each way by the clocks, and both together by no clock at all, leave an interval.
func (x *exchange) ways(k *clocks) (out, back, bound float64, ok bool) {
	c, s := x.client, x.server
	if c.parts != 1 || s.parts != 1 || x.unanswered() != "" || s.first[answer] == 0 || s.last[request] == 0 {
		return 0, 0, 0, false
	}
	near := x.conn.near
	o, off1, ok1 := x.transit(k, near, c.last[request], s.last[request])
	b, off2, ok2 := x.transit(k, 1-near, c.first[answer], s.first[answer])
	if !ok1 || !ok2 {
		return 0, 0, 0, false
	}
	// The time at the server is measured by another clock than the whole.
	rate, doubt := k.rate(c.first[answer], s.first[answer], near)
	net := max(0, float64(c.between)-float64(s.between)*(1-rate))
	doubt = doubt*float64(s.between) + grain*1e9
	low := max(0, o-off1, net-doubt-b-off2)
	high := min(o+off1, net+doubt-max(0, b-off2), net+doubt)
	if low > high { // by no more than the clocks' unevenness
		low, high = high, low
	}
	out = max(0, (low+high)/2)
	back = max(0, net-out)
	return (out + float64(x.stall(request))) / 1e9, (back + float64(x.stall(answer))) / 1e9, ((high-low)/2 + doubt) / 1e9, true
}

// transit is the way from one file's place of what the client's capture has at c and
// the server's at s.
func (x *exchange) transit(k *clocks, from int, c, s int64) (took, bound float64, ok bool) {
	at := [2]int64{c, s}
	near := x.conn.near
	return k.transit(from, at[near], at[1-near])
}

// compare gives the clocks what this exchange tells of them.
func (x *exchange) compare(k *clocks) {
	c, s := x.client, x.server
	if c.parts > 1 || s.parts > 1 {
		return
	}
	near := x.conn.near
	note := func(from int, c, s int64) {
		if at := [2]int64{c, s}; c != 0 && s != 0 {
			k.pass(from, at[near], at[1-near])
		}
	}
	note(near, c.first[request], s.first[request])
	note(near, c.last[request], s.last[request])
	note(1-near, c.first[answer], s.first[answer])
	note(1-near, c.last[answer], s.last[answer])
}

// count adds it to its second.
func (x *exchange) count(row *recording.RequestSecond) {
	wait, server := seconds64(x.waited()), seconds64(x.atServer())
	network := max(0, wait-server)
	row.N++
	row.Sum += wait
	row.Max = max(row.Max, wait)
	row.ServerSum += server
	row.ServerMax = max(row.ServerMax, server)
	row.Network += network
	row.Paused += seconds64(x.paused())
	row.LostOut += uint64(x.losses(request))
	row.LostBack += uint64(x.losses(answer))
	if x.unanswered() != "" {
		row.Unanswered++
	}
	row.Hist = inBucket(row.Hist, wait)
	row.ServerHist = inBucket(row.ServerHist, server)
	row.NetworkHist = inBucket(row.NetworkHist, network)
}

func inBucket(hist []uint64, seconds float64) []uint64 {
	i := recording.TurnBucket(seconds)
	for len(hist) <= i {
		hist = append(hist, 0)
	}
	hist[i]++
	return hist
}

func seconds64(ns int64) float64 { return float64(ns) / 1e9 }

// row is the exchange for the recording.
func (x *exchange) row(k *clocks) recording.Request {
	c, near := x.client, x.conn.near
	far := 1 - near
	r := recording.Request{
		T: recording.Time(c.first[request]), Client: x.conn.client(near).String(), Server: x.conn.server(near).String(), Name: x.name(),
		N: max(c.n, x.server.n), Parts: max(c.parts, x.server.parts),
		Wait: seconds64(x.waited()), AtServer: seconds64(x.atServer()), Stood: seconds64(x.stood()), Paused: seconds64(x.paused()),
		Upload:   seconds64(max(0, c.last[request]-c.first[request])),
		BytesOut: c.length(request), BytesIn: c.length(answer),
		LostOut: x.losses(request), LostBack: x.losses(answer), Unanswered: x.unanswered(),
	}
	if c.first[answer] != 0 {
		r.Download = seconds64(c.last[answer] - c.first[answer])
	}
	if at := x.conn.client(far); at != x.conn.client(near) {
		r.ClientAt = at.String()
	}
	if at := x.conn.server(far); at != x.conn.server(near) {
		r.ServerAt = at.String()
	}
	r.Network = max(0, r.Wait-r.AtServer)
	if out, back, bound, ok := x.ways(k); ok {
		r.Out, r.Back, r.Bound = &out, &back, bound
	}
	return r
}
