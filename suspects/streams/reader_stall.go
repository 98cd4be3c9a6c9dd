package streams

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var readerStall = &suspect.Suspect{
	Name:  "reader-stall",
	Title: "a player does not read its stream",
	About: "One player, edge or recorder stops reading: its own picture stops, what the server sends it fills both queues, and everybody else sees the stream go on. " +
		"At the ingest there is no gap at all.",
	Needs: []suspect.Need{
		{Measure: "streams.figures", Must: true, Why: "that the stream itself went on, by snag's own reader or by what was read on the wire"},
		{Measure: "sockets.diag", Must: true, Why: "the full queues of that player's connection, and the flow at the ingest"},
		{Measure: "sockets.owner", Must: true, Why: "which process owns these sockets"},
	},
	For: []string{
		"decisive: data waits unread in the buffer of the player's own socket and the server's window to it is shut (timer persist, rwnd_limited)",
		"strong: the window is shut, the player is on another host",
		"strong: more and more data waits unread in the player's own socket buffer for 2 s and longer, and it reads none of it: the buffer holds that much of a slow stream",
		"strong: no gap at the ingest, and the stream went on for others (Send-Q 0, Recv-Q 0)",
	},
	Against: []string{
		"decisive: nothing came in at the server either: all of them stopped",
		"decisive: it held up the server and all the others: slow-consumer",
		"trap: snag's own reader late: observer",
	},
	LeadsTo: []suspect.Lead{{To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 10 * time.Second}, {To: "slow-consumer", Lag: 10 * time.Second}, {To: "peer-reset", Lag: time.Minute}},
	Remedy: suspect.Remedy{
		Permanently: "At the player: CPU time, a disk that keeps up (a recorder). At the server: a bound on what may wait for one player, and what is dropped then.",
		Program:     "See what keeps the player from reading.",
	},
	Verified: "its Recv-Q is 0 in most samples",
	Next:     "ss -tnpoi state established   # Send-Q, timer persist, rwnd_limited of the server's connections",
	Weigh:    weighReaderStall,
}

func weighReaderStall(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	seen := map[*scene.Socket]bool{}
	for _, st := range s.Streams {
		if len(st.Way) == 0 || st.Way[0].From == nil {
			continue
		}
		served := st.Way[0].From
		for _, k := range s.Sockets {
			other := k.Listener != nil && k.Listener == served.Listener || sharesProcess(k, served)
			if seen[k] || !other || k == served && st.Row.Side != recording.StreamSideConsumer || k.Owner() == nil || reads0(k) {
				continue
			}
			seen[k] = true
			c := consumerOf(k.Owner(), k, s.Window)
			if c == nil {
				c = unreadBy(s, k)
			}
			if c != nil {
				out = append(out, stuckReader(s, r, st, c))
			}
		}
	}
	return out
}

// unreadBy is the reader at the other end of a connection, on this host, that took nothing of what
// came for 2 s and more: a slow stream takes longer than that to fill its receive buffer, and until
// then the server notices nothing. nil: it reads.
func unreadBy(s *scene.Scene, k *scene.Socket) *consumer {
	if k.Peer == nil {
		return nil
	}
	for _, sym := range s.Symptoms {
		if sym.Name == scene.StreamFreeze && sym.Side == "read" && scene.IDOf(sym.Subject) == scene.IDOf(k.Peer.Subject) {
			return &consumer{relay: k.Owner(), socket: k, active: sym.Active}
		}
	}
	return nil
}

// reads0 reports whether the process rather reads than writes this connection.
func reads0(k *scene.Socket) bool {
	t := k.LastTCP()
	return k.Listening() || t == nil || t.BytesReceived > t.BytesSent
}

func sharesProcess(a, b *scene.Socket) bool {
	for _, p := range a.Owners {
		for _, q := range b.Owners {
			if p == q {
				return true
			}
		}
	}
	return false
}

func stuckReader(s *scene.Scene, r *recording.Recording, st *scene.Stream, c *consumer) suspect.Finding {
	k := c.socket
	f := suspect.Finding{Subject: k.Subject, Active: c.active, Related: []recording.Subject{k.Subject, c.relay.Subject}}
	who := k.First().Remote
	if p := k.Peer; p != nil {
		f.Subject = p.Subject
		f.Related = append(f.Related, p.Subject)
		if owner := p.Owner(); owner != nil {
			who = measure.ProgramOf(owner.Subject)
			f.Related = append(f.Related, owner.Subject)
		}
	}
	f.NotBy = notForCPU(s.Process(f.Subject.PID), c.active, s.Window)
	stuck := intervals.Seconds(c.active, s.Window.End)
	f.Text = fmt.Sprintf("%s did not read for %s; the stream went on for others", who, units.Lasting(stuck))
	f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: stuck, Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s", Text: fmt.Sprintf("nothing of the stream reached %s for %s", who, units.Lasting(stuck))}
	sender := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(c.sendQ), Unit: "B", Source: source.SS("-tnpoi", source.SendQ, source.Word("timer"), source.RwndLimited), Origin: "the server's socket",
		Text: fmt.Sprintf("up to %s waited to be sent to it, and its window held %s for %.0f %% of that time", units.Bytes(float64(c.sendQ)), measure.ProgramOf(c.relay.Subject), 100*c.limited)}
	if c.persist {
		sender.Text += " (timer persist)"
	} else if c.limited < 0.3 {
		sender.Grade = suspect.Weak
	}
	own := readEnd(k.Peer, receives, c.active, s.Window)
	if own.seen && own.most > 0 && c.sendQ == 0 {
		sender = suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(own.most), Unit: "B", Source: source.SS("-tnp", source.RecvQ).With(source.BytesReceived), Origin: "the reader's socket",
			Text: fmt.Sprintf("up to %s waited unread in its own socket buffer, and more came, for %s: it read none of it", units.Bytes(float64(own.most)), units.Lasting(stuck))}
	} else if own.seen && own.waits() {
		sender.Text += fmt.Sprintf("; up to %s waited unread in its own socket buffer %s", units.Bytes(float64(own.most)), own.lookedAt())
		sender.Source = sender.Source.As(sender.Source.String() + ", Recv-Q").With(source.RecvQ)
		if sender.Grade == suspect.Strong && own.waiting >= 2 {
			sender.Grade = suspect.Decisive
		}
	}
	f.Evidence = append(f.Evidence, sender, ingestWentOn(s, st, c))
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("CPU time for %s, and a disk that keeps up where it records. At %s a bound on what waits for one player.", who, measure.OrProgram(c.relay.Subject.Comm)), Program: fmt.Sprintf("%s: see what keeps it from reading.", who)}
	f.Next = "ss -tnpoi dst " + recording.Host(k.First().Remote)
	if p := k.Peer; p != nil && p.Subject.PID != 0 {
		f.Next = fmt.Sprintf("for i in 1 2 3; do head /proc/%d/task/*/{comm,wchan,syscall}; sleep 1; done   # what it does instead of reading", p.Subject.PID)
	}
	return f
}

// ingestWentOn reports whether the stream came in, and went on to snag's own reader,
// while one player did not read.
func ingestWentOn(s *scene.Scene, st *scene.Stream, c *consumer) suspect.Evidence {
	stuck := intervals.Seconds(c.active, s.Window.End)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Source: source.At("", source.Sample("snag_stream_gap_seconds")).And(source.SS("-tnpi", source.BytesReceived)), Origin: "the stream", Text: "how the stream fared at the ingest was not seen"}
	own := st.OnWay(c.socket) // then its freezes are this reader's
	if !own {
		frozen := intervals.Overlap(st.Stood(s.Window), c.active, s.Window.End).Seconds()
		e.Grade, e.Value, e.Unit = suspect.Strong, frozen, "s"
		e.Text = fmt.Sprintf("%s itself stopped for %s of these %s", st.Subject.Name, units.Lasting(frozen), units.Lasting(stuck))
		if frozen > 0.5*stuck {
			e.Side, e.Grade = suspect.Against, suspect.Decisive
		}
	}
	if len(st.Way) < 2 {
		return e
	}
	in := readEnd(st.Way[1].To, receives, c.active, s.Window)
	if !in.seen || in.seconds == 0 {
		return e
	}
	came := fmt.Sprintf("at the ingest %s/s were read meanwhile (usually %s/s)", units.Bytes(in.taken/in.seconds), units.Bytes(in.usualReceived))
	switch {
	case !own:
		e.Text += "; " + came
	case in.taken >= goingOn*in.usualReceived*in.seconds:
		e.Grade, e.Value, e.Unit, e.Text = suspect.Strong, in.taken, "B", came
	default:
		e.Side, e.Grade, e.Value, e.Unit, e.Text = suspect.Against, suspect.Decisive, in.taken, "B", came
	}
	return e
}
