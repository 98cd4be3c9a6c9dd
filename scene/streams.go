package scene

import (
	"cmp"
	"slices"
	"time"

	"snag/internal/sorting"
	"snag/recording"
	"snag/recording/intervals"
)

// Stream is one live stream as one place saw it, joined with the sockets of this
// host that carry it.
type Stream struct {
	Node
	Row recording.Stream // its last row
	// Events are those of it, by time. One that was written again when it ended is
	// here once, with its end.
	Events []recording.Event
	// Way is the stream's way on this host against its flow: the connection on which
	// it was seen first, then the one that feeds that one's sender, and so on.
	Way []Link
	// Ends says why Way goes no further: "" where its last sender is the source (the
	// process receives no stream itself), else what was not seen or not told apart.
	Ends string
	// By says how the connection that feeds the server was found among others; "" where
	// there was one.
	By string

	// Delay is how long what is sent may take to the viewer by what is held on the way
	// at all times: a segment of HLS that is not whole yet.
	Delay time.Duration
	// Asked is when it was first asked for, where its first frame came late.
	Asked recording.Time

	// Files are its playlist and segments as they are written on this host, by time, and
	// Writer who writes them; Web the process that serves them. Of HLS only.
	Files       []recording.StreamFile
	Writer, Web *Process

	near map[NodeID]bool      // what evidence on it may be joined with
	wait []recording.Interval // for its first frame, beyond what is usual
	late []recording.Interval // its playlist had to change by then, and did not
}

// Link is one connection that a stream crosses.
type Link struct {
	From *Socket // the end that sends; nil: not on this host, or not seen
	To   *Socket // the end that receives; nil likewise
	// Datagrams: it comes over UDP. What moves over one socket is not counted there,
	// only what a namespace sends and receives in all.
	Datagrams bool
	// ToFiles: who receives here writes files, and who sends on the link before serves
	// them.
	ToFiles bool
}

// Sender is the process that sends, or nil.
func (l Link) Sender() *Process { return ownerOf(l.From) }

// Receiver is the process that receives, or nil.
func (l Link) Receiver() *Process { return ownerOf(l.To) }

func (l Link) writer(st *Stream) *Process {
	if l.ToFiles {
		return st.Writer
	}
	return nil
}

func ownerOf(k *Socket) *Process {
	if k == nil {
		return nil
	}
	return k.Owner()
}

// maxLinks bounds a stream's way: encoder, ingest, relay, origin, a relay again, edge,
// player, and as many more.
const maxLinks = 12

// addStreams makes a node of each stream at each place where it was seen.
func (s *Scene) addStreams(r *recording.Recording) {
	by := map[NodeID]*Stream{}
	was := formerNames(r.Streams)
	for _, row := range append(slices.Clone(r.Streams), loggedStreams(r)...) {
		if was[former{row.Side, row.Name, row.Remote}] {
			continue // the same connection, before anything told its stream's name
		}
		row.Local, row.Remote = Address(row.Local), Address(row.Remote)
		n := s.put(recording.Subject{Kind: recording.KindStream, Name: streamName(row), Netns: row.Netns})
		st := by[n.ID]
		if st == nil {
			st = &Stream{Node: n}
			by[n.ID] = st
			s.Streams = append(s.Streams, st)
		}
		st.Row = row
	}
	firsts := firstFrames(r.Streams)
	for _, st := range s.Streams {
		st.Events = eventsOf(r, st.Row)
		s.findWait(r, st, firsts)
		s.findStale(r, st)
		s.findWay(r, st)
		s.tieStream(st)
	}
}

// former is what a passive connection was called by its addresses.
type former struct{ side, name, remote string }

func formerNames(rows []recording.Stream) map[former]bool {
	out := map[former]bool{}
	for _, row := range rows {
		if row.Was != "" && row.Was != row.Name {
			out[former{row.Side, row.Was, row.Remote}] = true
		}
	}
	return out
}

// streamName tells a stream at one place from the same at another.
func streamName(row recording.Stream) string {
	switch {
	case row.Layer != "":
		return row.Name + " at " + row.Layer
	case row.Side == recording.StreamSidePublisher:
		return row.Name + " as published"
	case row.Side == recording.StreamSideConsumer:
		return row.Name + " to " + row.Remote
	}
	return row.Name
}

// eventsOf are the events of a stream at the place that a row is of.
func eventsOf(r *recording.Recording, row recording.Stream) []recording.Event {
	type key struct {
		kind string
		t    recording.Time
	}
	at := map[key]int{}
	var out []recording.Event
	for _, e := range r.Events {
		sub := e.Subject
		if sub.Kind != recording.KindStream || sub.Name != row.Name && (row.Was == "" || sub.Name != row.Was) || e.Attrs["layer"] != row.Layer {
			continue
		}
		if side := cmp.Or(e.Attrs["side"], recording.StreamSidePlayer); side != cmp.Or(row.Side, recording.StreamSidePlayer) {
			continue
		}
		if sub.Remote != "" && row.Remote != "" && Address(sub.Remote) != row.Remote {
			continue // the same stream on another connection
		}
		k := key{e.Kind, e.T}
		if i, ok := at[k]; ok {
			if e.End != 0 {
				out[i] = e
			}
			continue
		}
		at[k] = len(out)
		out = append(out, e)
	}
	sorting.StableBy(out, func(a, b recording.Event) int { return cmp.Compare(a.T, b.T) })
	return out
}

// Spans are when events of that kind held, within the window; one that still went
// on lasts until its end.
func (st *Stream) Spans(kind string, window recording.Interval) []recording.Interval {
	var out []recording.Interval
	for _, e := range st.Events {
		if e.Kind != kind {
			continue
		}
		i := e.Interval()
		if i.End == 0 || i.End > window.End {
			i.End = window.End
		}
		if i.Start = max(i.Start, window.Start); i.End > i.Start {
			out = append(out, i)
		}
	}
	return intervals.Merge(out, 0)
}

// StreamAt is the stream that a subject stands for, or nil.
func (s *Scene) StreamAt(sub recording.Subject) *Stream {
	if sub.Kind != recording.KindStream {
		return nil
	}
	id := IDOf(sub)
	for _, st := range s.Streams {
		if st.ID == id {
			return st
		}
	}
	return nil
}

// plays reports whether a socket is a player's of a server that serves a watched stream.
func (s *Scene) plays(k *Socket) bool {
	return k.Peer != nil && s.serves(k.Peer)
}

// serves reports whether a socket is the server's end of such a connection.
func (s *Scene) serves(k *Socket) bool {
	return k.Listener != nil && !brings(k) && slices.ContainsFunc(s.Streams, func(st *Stream) bool {
		return len(st.Way) > 0 && st.Way[0].From != nil && st.Way[0].From.Listener == k.Listener
	})
}

// Viewed reports whether a socket is an end of a viewer's connection to a server that serves a
// watched stream. Which of its streams he gets nobody can tell.
func (s *Scene) Viewed(k *Socket) bool { return s.serves(k) || s.plays(k) }

// onlyListens reports whether a connection that this process opened brings it a stream
// to which it says nothing more once it asked: a player, a recorder, a feed.
func onlyListens(k *Socket) bool {
	a, b := k.First().TCP, k.LastTCP()
	return k.Listener == nil && a != nil && b != nil && brings(k) && b.BytesReceived > a.BytesReceived && b.BytesSent > 0 && b.BytesSent == a.BytesSent
}

// OnWay reports whether a stream crosses that socket.
func (st *Stream) OnWay(k *Socket) bool {
	return k != nil && slices.ContainsFunc(st.Way, func(l Link) bool { return l.From == k || l.To == k })
}

// Through are the processes that the stream passes through or comes from, the
// source last.
func (st *Stream) Through() []*Process {
	var out []*Process
	for _, l := range st.Way {
		for _, p := range []*Process{l.Sender(), l.writer(st)} {
			if p != nil && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// tieStream joins a stream with what carries it, and notes what evidence on it may
// be joined with: the sockets of its way, their processes with threads and cgroups,
// the listeners and devices that they use. Not the other sockets of a server: what
// another publisher does is no reason for this stream's freeze.
func (s *Scene) tieStream(st *Stream) {
	st.near = map[NodeID]bool{}
	s.nearProcess(st, st.Writer)
	s.nearProcess(st, st.Web)
	for i, l := range st.Way {
		for _, k := range []*Socket{l.From, l.To} {
			if k == nil {
				continue
			}
			if i == 0 && k == l.To {
				s.tie(k.ID, st.ID, Reads)
			} else {
				s.tie(k.ID, st.ID, Feeds)
			}
			st.near[k.ID] = true
			for _, n := range s.Neighbours(k.ID, Crosses) {
				st.near[n] = true
				for _, q := range s.Neighbours(n, On) {
					st.near[q] = true
				}
			}
			if k.Listener != nil {
				st.near[k.Listener.ID] = true
			}
			for _, p := range k.Owners {
				s.nearProcess(st, p)
			}
		}
	}
}

// nearProcess notes a process on the way that holds no socket of it.
func (s *Scene) nearProcess(st *Stream, p *Process) {
	if p == nil {
		return
	}
	st.near[p.ID] = true
	for _, t := range p.Threads {
		st.near[t.ID] = true
	}
	for _, c := range s.Neighbours(p.ID, LimitedBy) {
		st.near[c] = true
	}
}

// touches reports whether evidence on another subject may be joined with this stream.
func (st *Stream) touches(s *Scene, other recording.Subject) bool {
	switch other.Kind {
	case recording.KindNetns:
		return slices.ContainsFunc(st.Way, func(l Link) bool {
			return l.From != nil && l.From.First().Netns == other.Netns || l.To != nil && l.To.First().Netns == other.Netns
		})
	case recording.KindPort, recording.KindFlow:
		for _, l := range st.Way {
			if l.From != nil && sharesAddress(l.From.Subject, other) || l.To != nil && sharesAddress(l.To.Subject, other) {
				return true
			}
		}
		return false
	}
	n := s.anchor(other)
	return n != nil && st.near[n.ID]
}
