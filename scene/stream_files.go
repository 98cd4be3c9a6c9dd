package scene

import (
	"cmp"
	"fmt"
	"time"

	"snag/recording"
	"snag/recording/intervals"
)

// A server makes a new playlist no later than 1.5 target durations after the one
// before (draft-pantos-hls-rfc8216bis 6.2.1). A reader sees it up to half a target
// duration later, since it asks no more often (6.3.4): what is older is late.
const (
	dueTargets  = 1.5
	lateTargets = 2.0
	lateSlack   = 500 * time.Millisecond
)

// findStale notes when a playlist was late: by its age as the reader saw it, and by when its file
// was written where that is on this host, for the reader does not know how old it was at first. The
// target duration is the one of that time: some servers make it as long as their longest segment,
// and a packager that stood still has a long one.
func (s *Scene) findStale(r *recording.Recording, st *Stream) {
	if st.Row.Protocol != "hls" {
		return
	}
	targets := ofStream(r, "snag_stream_target_seconds", st.Row)
	most := 0.0
	for _, p := range targets {
		most = max(most, p.V)
	}
	if most <= 0 {
		return
	}
	long := func(n, target float64) time.Duration { return time.Duration(n * target * 1e9) }
	st.Delay = long(dueTargets, most)
	points := ofStream(r, "snag_stream_playlist_age_seconds", st.Row)
	for i, p := range points {
		changed := p.T.Add(-time.Duration(p.V * 1e9))
		if seen := points[0].T.Add(-time.Duration(points[0].V * 1e9)); changed.Sub(seen) < lateSlack { // it has not seen a change yet
			changed = min(changed, cmp.Or(writtenBy(r, st.Row, p.T), changed))
		}
		target := most
		for _, t := range targets {
			if t.T <= p.T && t.V > 0 {
				target = t.V
			}
		}
		if p.T.Sub(changed) < long(lateTargets, target)+lateSlack {
			continue
		}
		end := p.T // it lasts until the next change, or the end
		if i+1 < len(points) {
			end = max(end, points[i+1].T.Add(-time.Duration(points[i+1].V*1e9)))
		}
		st.late = append(st.late, recording.Interval{Start: max(changed.Add(long(dueTargets, target)), s.Window.Start), End: min(end, s.Window.End)})
	}
	st.late = intervals.Merge(st.late, 0)
}

// writtenBy is when the playlist's file had been written last at some time; 0 where no file of the
// stream is seen.
func writtenBy(r *recording.Recording, row recording.Stream, at recording.Time) (written recording.Time) {
	for _, f := range r.StreamFiles {
		if f.Name == row.Name && f.Layer == row.Layer && f.T <= at {
			written = max(written, f.MTime)
		}
	}
	return written
}

// ofStream are the points of one stream's series.
func ofStream(r *recording.Recording, name string, row recording.Stream) []recording.Point {
	for _, series := range r.Select(name, "stream", row.Name) {
		if series.Labels["layer"] == row.Layer && (series.Labels["side"] == "" || series.Labels["side"] == row.Side) {
			return series.Points
		}
	}
	return nil
}

// Stale is when the stream's playlist had to change and did not.
func (st *Stream) Stale() []recording.Interval { return st.late }

// findFileWay follows a stream that is served from files: from snag to the web server,
// from there over the files to who writes them, and on over what feeds that one. A
// server that has the segments in memory is fed itself.
func (s *Scene) findFileWay(r *recording.Recording, st *Stream) {
	st.Way = []Link{s.requestLink(r, st.Row)}
	first := st.Way[0]
	if st.Web = first.Sender(); st.Web == nil {
		if l := s.listenerAt(r, st.Row.Remote); l != nil {
			st.Web = l.Owner()
		}
	}
	for _, f := range r.StreamFiles {
		if f.Name == st.Row.Name && f.Layer == st.Row.Layer {
			st.Files = append(st.Files, f)
			st.Writer = s.Process(f.PID)
		}
	}
	if st.Writer != nil {
		s.feedWriter(r, st)
		return
	}
	if first.From != nil {
		in, by, why := s.feederOf(r, st, first.From, nil)
		if in != nil {
			st.By = by
			st.Way = append(st.Way, Link{From: in.Peer, To: in})
			s.goBack(r, st)
			return
		}
		if why != "" {
			st.Ends = why
			return
		}
	}
	switch {
	case st.Web != nil:
		st.Ends = fmt.Sprintf("who writes the files that %s serves was not found on this host", st.Web.Subject.Name)
	case first.To != nil:
		st.Ends = fmt.Sprintf("%s, where it comes from, is not on this host", recording.Host(st.Row.Remote))
	default:
		st.Ends = "its connection is not among the sockets that were recorded"
	}
}

// feedWriter goes on from who writes a stream's files.
func (s *Scene) feedWriter(r *recording.Recording, st *Stream) {
	in, by, why := s.feederOf(r, st, nil, st.Writer)
	if in == nil && why == "" {
		if k := boundUDP(st.Writer); k != nil {
			st.Way = append(st.Way, Link{From: s.senderTo(r, k), To: k, Datagrams: true, ToFiles: true})
			if st.Way[1].From == nil {
				st.Ends = fmt.Sprintf("who sends to %s is not seen on this host", k.First().Local)
			}
			return
		}
	}
	switch {
	case in != nil:
		st.By = by
		st.Way = append(st.Way, Link{From: in.Peer, To: in, ToFiles: true})
		s.goBack(r, st)
	case why != "":
		st.Ends = why
	default: // nothing comes to it over the network: it makes the stream
		st.Way = append(st.Way, Link{ToFiles: true})
	}
}

// requestLink is the connection on which the reader asks, the longest of them: a
// server may end one after so many requests.
func (s *Scene) requestLink(r *recording.Recording, row recording.Stream) Link {
	l := s.firstLink(row)
	for _, k := range s.Requests(r, row) {
		if l.To == nil || len(k.Rows) > len(l.To.Rows) {
			l = Link{From: k.Peer, To: k}
		}
	}
	return l
}

// Requests are the connections of snag's own reader to the server of a stream.
func (s *Scene) Requests(r *recording.Recording, row recording.Stream) []*Socket {
	var out []*Socket
	for _, k := range s.Sockets {
		f := k.First()
		if p := k.Owner(); f.Proto == "tcp" && f.Remote == row.Remote && row.Remote != "" && p != nil && p.Subject.PID == r.Manifest.SelfPID {
			out = append(out, k)
		}
	}
	return out
}

// listenerAt is what listens at an address of this host, in whatever namespace has it.
func (s *Scene) listenerAt(r *recording.Recording, addr string) *Socket {
	for id := range s.having(r, recording.Host(addr)) {
		if l := s.ListenerOn(id, addr); l != nil {
			return l
		}
	}
	return nil
}
