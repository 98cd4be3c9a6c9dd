package scene

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"snag/recording"
)

// findWay follows a stream from the connection on which it was seen back to where
// it comes from, as far as this host has both ends.
func (s *Scene) findWay(r *recording.Recording, st *Stream) {
	switch {
	case st.Row.Protocol == "hls":
		s.findFileWay(r, st)
		return
	case overDatagrams(st.Row):
		st.Way, st.Ends = s.datagramWay(r, st.Row, nil)
		return
	}
	l := s.firstLink(st.Row)
	if l == (Link{}) && st.Row.Local == "" && st.Row.First == 0 {
		l = s.ownLink(r, st.Row)
	}
	if st.Row.Protocol == "rtsp" {
		if asked := s.requestLink(r, st.Row); asked.To != nil && !carriesAll(r, st.Row, asked.To) {
			st.Way, st.Ends = s.datagramWay(r, st.Row, asked.From)
			if asked.From != nil && asked.From.Owner() != nil && len(st.Way) > 0 {
				s.goBack(r, st)
			}
			return
		}
	}
	if l.From == nil && l.To == nil {
		s.findUnseenWay(r, st)
		return
	}
	st.Way = []Link{l}
	s.goBack(r, st)
}

// goBack follows the way from its last connection's sender on.
func (s *Scene) goBack(r *recording.Recording, st *Stream) {
	for {
		from := st.Way[len(st.Way)-1].From
		switch {
		case from == nil:
			st.Ends = fmt.Sprintf("%s, where it comes from, is not on this host", recording.Host(st.Way[len(st.Way)-1].To.First().Remote))
			return
		case from.Owner() == nil:
			st.Ends = "nothing shows which process sends from " + from.First().Local
			return
		case len(st.Way) == maxLinks:
			st.Ends = fmt.Sprintf("it was followed over %d connections and no further", maxLinks)
			return
		}
		in, by, why := s.feederOf(r, st, from, nil)
		if in == nil {
			st.Ends = why
			return
		}
		if st.By == "" {
			st.By = by
		}
		st.Way = append(st.Way, Link{From: in.Peer, To: in})
	}
}

// firstLink is the connection that a row is of: of a player snag's end is the one
// that receives, of a publisher the server's, of a consumer the server's sends.
func (s *Scene) firstLink(row recording.Stream) Link {
	if row.Local == "" || row.Remote == "" {
		return Link{}
	}
	at := s.SocketAt(row.Netns, "tcp", row.Local, row.Remote)
	var peer *Socket
	if at != nil {
		peer = at.Peer
	} else {
		peer = s.socketBetween(row.Remote, row.Local)
	}
	if row.Side == recording.StreamSideConsumer {
		return Link{From: at, To: peer}
	}
	return Link{From: peer, To: at}
}

// ownLink is the connection on which snag itself asked for a stream of which no frame came: the only
// one of its own to where the URL says.
func (s *Scene) ownLink(r *recording.Recording, row recording.Stream) Link {
	u, err := url.Parse(row.URL)
	if err != nil || u.Port() == "" || row.Side != recording.StreamSidePlayer {
		return Link{}
	}
	var own *Socket
	for _, k := range s.Sockets {
		f := k.First()
		if f.Proto != "tcp" || f.Netns != row.Netns || recording.Port(f.Remote) != u.Port() || !slices.ContainsFunc(k.Owners, func(p *Process) bool { return p.Subject.PID == r.Manifest.SelfPID }) {
			continue
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil && recording.Host(f.Remote) != addr.String() {
			continue
		}
		if own != nil {
			return Link{}
		}
		own = k
	}
	if own == nil {
		return Link{}
	}
	return Link{From: own.Peer, To: own}
}

// socketBetween is the only socket with these ends, in whatever namespace; nil
// where there is none or several.
func (s *Scene) socketBetween(local, remote string) *Socket {
	var found *Socket
	for _, k := range s.Sockets {
		if f := k.First(); f.Proto == "tcp" && f.Local == local && f.Remote == remote {
			if found != nil {
				return nil
			}
			found = k
		}
	}
	return found
}

// A connection that brings a stream receives far more than it sends: a publisher
// gets some kB of answers, a player sends some. BringsLeast is more than these.
const (
	bringsTimes = 2
	BringsLeast = 8 << 10 // bytes
)

func brings(k *Socket) bool {
	t := k.LastTCP()
	return t != nil && k.First().Proto == "tcp" && !k.Listening() && k.First().Remote != "" &&
		t.BytesReceived > BringsLeast && t.BytesReceived > bringsTimes*t.BytesSent
}

// feederOf is the socket on which the process that sends from out gets the stream:
// by what was read of the publishers' connections, else the only one that brings
// something, else the one whose sender names the stream, else the one whose rhythm is the stream's, or that alone
// carries as much. Nil and no reason: it gets none, and is the source. A writer of files has no such socket, and out
// is nil.
func (s *Scene) feederOf(r *recording.Recording, st *Stream, out *Socket, writer *Process) (in *Socket, by, why string) {
	var all []*Socket
	for _, k := range s.Sockets {
		same := writer != nil && hasProcess(k.Owners, writer)
		if out != nil {
			same = k.Listener != nil && k.Listener == out.Listener || sharesOwner(k, out)
		}
		if same && k != out && brings(k) {
			all = append(all, k)
		}
	}
	for _, row := range r.Streams {
		if row.Side != recording.StreamSidePublisher || row.Name != st.Row.Name {
			continue
		}
		if k := s.SocketAt(row.Netns, "tcp", Address(row.Local), Address(row.Remote)); k != nil && slices.Contains(all, k) {
			return k, "its publisher's connection names it", ""
		}
	}
	switch len(all) {
	case 0:
		return nil, "", ""
	case 1:
		return all[0], "", ""
	}
	who := writer
	if out != nil {
		who = out.Owner()
	}
	receiver := nameOr(who, out)
	named := namedOf(st, all)
	if len(named) == 1 {
		return named[0], fmt.Sprintf("the command line of %s names it", named[0].Peer.Owner().Subject.Name), ""
	} else if len(named) > 1 { // one after the other, or several of one name
		all = named
	}
	if k, by := publishedOver(r, st, all); k != nil {
		return k, by, ""
	}
	if k := againOf(st, all, s.Window); k != nil {
		return k, fmt.Sprintf("the %d that sent one to %s came one after the other, and this one ended when the stream did", len(all), receiver), ""
	}
	if k := endedWith(st, all); k != nil {
		return k, fmt.Sprintf("of the %d that sent a stream to %s this is the only one that ended when the stream did", len(all), receiver), ""
	}
	if k, text := likeIt(r, st, all); k != nil {
		return k, text, ""
	}
	if k, text := amountOf(r, st, all); k != nil {
		return k, text, ""
	}
	if k := stoppedOf(r, st, all); k != nil {
		return k, fmt.Sprintf("whoever sends it was stopped when the stream suffered, and nobody who sends one of the %d others", len(all)-1), ""
	}
	if k := endedBefore(st, all); k != nil {
		return k, fmt.Sprintf("of the %d that sent a stream to %s this is the only one that ended before the stream suffered", len(all), receiver), ""
	}
	if allBehind(st, all) && fromOneHost(all) { // whichever it is
		return all[0], fmt.Sprintf("it can be any of the %d streams that %s receives: all come from %s, and data of all of them wait there to be sent", len(all), receiver, recording.Host(all[0].First().Remote)), ""
	}
	if k, silent := silentOf(all); st.Row.First == 0 && out != nil {
		switch {
		case silent == 1:
			return k, fmt.Sprintf("no frame of it came, and of the %d streams that %s receives this is the only one of which nothing came", len(all), receiver), ""
		case silent == len(all) && fromOneHost(all): // whichever it is
			return k, fmt.Sprintf("no frame of it came, and nothing of any of the %d streams that %s receives, all of them from %s", len(all), receiver, recording.Host(k.First().Remote)), ""
		}
	}
	return nil, "", fmt.Sprintf("%s receives %d streams, and nothing shows which of them is this one (snag watch --passive does)", receiver, len(all))
}

// beforeHurt is how long before a stream suffers whoever sends it may have stopped, besides what is
// held on the way: players and servers hold a second or two.
const beforeHurt = 2 * time.Second

// stoppedOf is the only one of some connections whose sender, a process of this host, was stopped
// when a stream suffered; nil where there is no such one, or a sender is not known.
func stoppedOf(r *recording.Recording, st *Stream, all []*Socket) (found *Socket) {
	hurt := st.hurt()
	for i := range hurt {
		hurt[i].Start = hurt[i].Start.Add(-st.Delay - beforeHurt)
	}
	for _, k := range all {
		if k.Peer == nil || k.Peer.Owner() == nil {
			return nil
		}
		stopped := slices.ContainsFunc(r.Events, func(e recording.Event) bool {
			if e.End == 0 { // it still is
				e.End = r.Window().End
			}
			return e.Kind == recording.EventStopped && e.Subject.PID == k.Peer.Owner().Subject.PID && overlap(hurt, []recording.Interval{{Start: e.T, End: e.End}})
		})
		if stopped && found != nil {
			return nil
		}
		if stopped {
			found = k
		}
	}
	return found
}

// hurt is when a stream stood still, was late, or slow, or waited for.
func (st *Stream) hurt() (out []recording.Interval) {
	for _, e := range st.Events {
		switch e.Kind {
		case recording.EventStreamFreeze, recording.EventStreamSkipped, recording.EventStreamLate, recording.EventStreamSlow:
			out = append(out, recording.Interval{Start: e.T, End: max(e.T, e.End)})
		}
	}
	return append(append(out, st.late...), st.wait...)
}

// At a sender whose connection does not carry what it is given more waits than what is in flight on
// most ways, or than a key frame: of a stream of a low rate that is less.
const (
	behindBytes   = 64 << 10
	behindSeconds = 1.0
)

// allBehind reports whether the senders of all of some connections are on this host, and had data
// waiting at nearly every look from when the stream began to suffer.
func allBehind(st *Stream, all []*Socket) bool {
	var since recording.Time
	for i, span := range st.hurt() {
		if start := span.Start.Add(-st.Delay); i == 0 || start < since {
			since = start
		}
	}
	for _, k := range all {
		if k.Peer == nil || k.Peer.Owner() == nil {
			return false
		}
		rows := k.Peer.Rows
		first, last := rows[0], rows[len(rows)-1]
		if first.TCP == nil || last.TCP == nil {
			return false
		}
		wrote := float64(last.TCP.BytesAcked) + float64(last.SendQ) - float64(first.TCP.BytesAcked) - float64(first.SendQ)
		least := min(behindBytes, behindSeconds*wrote/max(1, last.T.Sub(first.T).Seconds()))
		looks, waiting := 0, 0
		for _, row := range rows {
			if row.T < since {
				continue
			}
			if looks++; row.SendQ > 0 && float64(row.SendQ) >= least {
				waiting++
			}
		}
		if looks < 4 || 10*waiting < 9*looks {
			return false
		}
	}
	return true
}

// silentOf is the first of some connections on which nothing came, and how many there are.
func silentOf(all []*Socket) (silent *Socket, n int) {
	for _, k := range all {
		if k.LastTCP().BytesReceived > firstTCP(k).BytesReceived {
			continue
		}
		if n++; silent == nil {
			silent = k
		}
	}
	return silent, n
}

func fromOneHost(all []*Socket) bool {
	return !slices.ContainsFunc(all, func(k *Socket) bool {
		return recording.Host(k.First().Remote) != recording.Host(all[0].First().Remote)
	})
}

func firstTCP(k *Socket) *recording.TCPInfo {
	for _, row := range k.Rows {
		if row.TCP != nil {
			return row.TCP
		}
	}
	return k.LastTCP()
}

func sharesOwner(a, b *Socket) bool {
	return slices.ContainsFunc(a.Owners, func(p *Process) bool { return slices.Contains(b.Owners, p) })
}

func nameOr(p *Process, k *Socket) string {
	if p != nil {
		return p.Subject.Name
	}
	return k.Subject.Name
}
