package streams

import (
	"cmp"
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var logSilence = &suspect.Suspect{
	Name:  "log-silence",
	Title: "a service's log is silent, since it waits for a peer",
	About: "The log grew at a steady pace, then not at all, and meanwhile the process sat in one call on one peer. " +
		"A log is silent for innocent reasons as well: nothing to do, lines that are kept back and come in a burst, a file that was rotated under the process.",
	Needs: []suspect.Need{
		{Measure: "logs.files", Must: true, Why: "size and last write of the log, once a second"},
		{Measure: "threads.syscall", Why: "the call and the descriptor that the process waits in"},
		{Measure: "offcpu.waits", Why: "for how long it was blocked there, in which function, and who woke it"},
		{Measure: "sockets.diag", Why: "who is at the other end, and who was to answer"},
		{Measure: "sockets.turns", Why: "a call that has no answer yet"},
		{Measure: "sockets.owner", Why: "which socket a descriptor is"},
	},
	For: []string{
		"strong: the log grew in each sample, and for 3 s and longer, after that or when the recording began, at none, while its process had something to do",
		"strong: in most samples of the silence a thread of it waited in a read or write on one peer's connection",
		"strong: by the scheduler's word a thread of it was blocked on one peer's connection for most of the silence, in a function that is named",
		"strong: or it slept in a write to a full pipe (its standard output); the pipe's reader is named, and what it did meanwhile",
		"strong: the same, and the reader is stopped or does something else all the time, where the log did not grow in the whole recording",
		"strong: it had asked that peer before the silence, and no answer came",
	},
	Against: []string{
		"decisive: it slept (nanosleep) or waited for work (epoll), and no requests came: idle",
		"decisive: the file was rotated, and the process writes on elsewhere",
		"strong: the next write brought all that was missing at once: buffered",
		"can't tell: what the lines would have said; no content is read",
	},
	LeadsTo:  []suspect.Lead{{To: scene.LogSilence, Lag: 5 * time.Second}},
	Remedy:   suspect.Remedy{Program: "Find out why the peer does not answer, and set a timeout for that call."},
	Verified: "the log grows at its pace again",
	Next:     "cat /proc/PID/task/*/syscall; ls -l /proc/PID/fd; ss -tnpo",
	Weigh:    weighLogSilence,
}

func weighLogSilence(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, g := range scene.LogGaps(r) {
		p := s.Process(g.File.PID)
		if p == nil || p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		if recording.StandsIn(p.Subject.PID) && !scene.LogsRequests(r, p.Subject.PID) && !g.Plain() {
			continue // a log of errors, say, has no pace
		}
		if g.Whole && s.BusyIn(r, p, g) == "" {
			continue
		}
		out = append(out, weighGap(g, p, s, r))
	}
	return out
}

func weighGap(g scene.LogGap, p *scene.Process, s *scene.Scene, r *recording.Recording) suspect.Finding {
	pid := p.Subject.PID
	long := g.Silence.End.Sub(g.Silence.Start).Seconds()
	file := recording.Subject{Kind: recording.KindFile, Path: g.File.Path, PID: pid, Comm: p.Subject.Comm}
	f := suspect.Finding{Subject: p.Subject, Active: []recording.Interval{g.Silence}, Related: []recording.Subject{file},
		Text: fmt.Sprintf("its log %s is silent for %s", g.File.Path, units.Lasting(long))}
	busy := s.BusyIn(r, p, g)
	grew, where := fmt.Sprintf("grew in %d samples", g.Writes), source.Of("stat "+g.File.Path)
	if recording.StandsIn(pid) {
		grew, where = fmt.Sprintf("has lines in %d seconds", g.Writes), source.File("the times of its lines")
	}
	gap := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: long, Unit: "s", Source: where, Origin: "log file",
		Text: fmt.Sprintf("%s %s, %s apart at most, and then not for %s", g.File.Path, grew, units.Lasting(g.Usual.Seconds()), units.Lasting(long))}
	switch {
	case g.Whole: // whether it grows at all otherwise nobody saw
		gap.Grade, gap.Text = suspect.Weak, fmt.Sprintf("%s did not grow for %s", g.File.Path, units.Lasting(long))
	case g.First:
		gap.Text = fmt.Sprintf("%s %s, %s apart at most, and before that not for %s", g.File.Path, grew, units.Lasting(g.Usual.Seconds()), units.Lasting(long))
	}
	against := func(grade suspect.Grade, seen, text string) {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: grade, Source: source.Of(seen), Origin: seen, Text: text})
	}
	switch {
	case g.Rotated:
		gap.Grade = suspect.Weak
		against(suspect.Decisive, "readlink /proc/PID/fd", fmt.Sprintf("the file was rotated: descriptor %d of it is no longer %s", g.File.FD, g.File.Path))
	case busy == "" && recording.StandsIn(pid) && !scene.LogsRequests(r, pid):
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Missing, Source: source.Of("snag find"), Text: "what it had to do meanwhile is not in its log: it may have been idle"})
	case busy == "":
		gap.Grade = suspect.Weak
		grade := suspect.Decisive
		if r.ShareOf("sockets.turns") < 1 {
			grade = suspect.Weak // a request may have come and gone between two slices
		}
		against(grade, "ss -tnp", "it had nothing to do meanwhile: no requests came, and it waited for no answer")
	default:
		gap.Text += ", while " + busy
		if missing := float64(g.After); missing > float64(g.Each) && missing >= 0.5*expected(g, long) {
			against(suspect.Strong, "stat", fmt.Sprintf("the next write brought %s at once, about what was missing: the lines were kept back", units.Bytes(missing)))
		}
	}
	f.Evidence = append(f.Evidence, gap)
	if busy == "" || g.Rotated {
		return f
	}
	if pipe := stuckPipeOf(p, s, r, g.Silence); pipe != nil {
		return pipe.silence(f, g, s)
	}
	socket, n, looks, row := blockedOn(p, g.Silence)
	if n > 0 {
		part, share := measure.ShareOf(n, looks)
		peer := cmp.Or(socket.First().Remote, socket.First().Local)
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: share, Unit: "share", Source: source.Calls.As(fmt.Sprintf("/proc/%d/task/%d/syscall", pid, row.TID)), Origin: "system call",
			Text: fmt.Sprintf("in %s samples of the silence its thread %d was in %s on descriptor %d, the connection to %s", part, row.TID, row.Syscall, row.FD, peer)}
		if share >= 0.6 {
			e.Grade = suspect.Strong
		}
		f.Evidence = append(f.Evidence, e)
		f.Text += fmt.Sprintf(": it waits for %s", peer)
		f.Related = append(f.Related, socket.Subject)
		f.Remedy = answerPlease(peer, p.Subject.Comm)
		f.Next = fmt.Sprintf("snag find --port %s   # on %s", recording.Port(peer), recording.Host(peer))
	}
	if b, k := waitsOn(p, r, g.Silence, s.Window); b != nil {
		f.Evidence = append(f.Evidence, b.onPeer(k))
		if n == 0 {
			n, socket = 1, k
			peer := cmp.Or(k.First().Remote, k.First().Local)
			f.Text += ": it waits for " + peer
			f.Related = append(f.Related, k.Subject)
			f.Remedy = answerPlease(peer, p.Subject.Comm)
			f.Next = fmt.Sprintf("snag find --port %s   # on %s", recording.Port(peer), recording.Host(peer))
		}
		if k == socket {
			f.Text += fmt.Sprintf(" (%s, in %s)", b.who(), b.call)
		}
		if b.function != "" && k == socket {
			f.Remedy = answerPlease(cmp.Or(k.First().Remote, k.First().Local), p.Subject.Comm+", in "+b.function)
		}
	}
	if t := unanswered(r, pid, g.Silence); t.Oldest > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: t.Oldest, Unit: "s", Source: source.CallTurns, Origin: "turns",
			Text: fmt.Sprintf("it asked %s, and had no answer for %s in the silence", t.Remote, units.Lasting(t.Oldest))})
		if n == 0 {
			f.Text += ": it waits for " + t.Remote
			f.Remedy = answerPlease(t.Remote, p.Subject.Comm)
		}
	} else if k := asked(p, g.Silence); k != nil {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Source: source.SS("-ti", source.LastSnd, source.LastRcv), Origin: "tcp_info",
			Text: fmt.Sprintf("it asked %s and had no answer yet in the silence (last sent %s ago, last received %s ago)", k.Remote, units.Lasting(k.TCP.LastSnd), units.Lasting(k.TCP.LastRcv))})
		if n == 0 {
			f.Text += ": it waits for " + k.Remote
		}
	}
	switch {
	case n != 0:
	case recording.StandsIn(pid):
		f.Next = "snag find on its host, while it is silent"
	default:
		f.Next = fmt.Sprintf("head /proc/%d/task/*/{wchan,syscall}; ls -l /proc/%d/fd", pid, pid)
	}
	f.Harm = harmOf(g, s)
	return f
}

func harmOf(g scene.LogGap, s *scene.Scene) suspect.Harm {
	long := g.Silence.End.Sub(g.Silence.Start).Seconds()
	return suspect.Harm{Symptom: scene.LogSilence, Amount: long, Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s", Text: fmt.Sprintf("%s of silence in %s", units.Lasting(long), g.File.Path)}
}

func answerPlease(peer, comm string) suspect.Remedy {
	return suspect.Remedy{Permanently: fmt.Sprintf("Find out why %s does not answer (snag find on %s).", peer, recording.Host(peer)), Program: fmt.Sprintf("%s: a timeout for that call.", comm)}
}

// expected is how much the log would have grown in the silence, bytes, had it gone on
// at its pace: a write at each look, a second apart.
func expected(g scene.LogGap, long float64) float64 { return float64(g.Each) * long }

// blockedOn is the peer's connection that a thread of the process waited on at most
// looks of an interval. A connection that the process serves is waited on by whoever
// has nothing to do.
func blockedOn(p *scene.Process, in recording.Interval) (best *scene.Socket, n, looks int, row recording.Thread) {
	waits := map[*scene.Socket]int{}
	rows := map[*scene.Socket]recording.Thread{}
	for _, l := range measure.LooksAt(p) {
		if !in.Covers(l.T) {
			continue
		}
		looks++
		seen := map[*scene.Socket]bool{}
		for _, t := range l.Rows {
			k := measure.SocketAt(p, t)
			if k == nil || k.Listening() || !measure.ReadCalls[t.Syscall] && !writes[t.Syscall] || k.Listener != nil && measure.ReadCalls[t.Syscall] || seen[k] {
				continue
			}
			seen[k] = true
			waits[k]++
			rows[k] = t
		}
	}
	for k, count := range waits {
		if count > n || count == n && k.Subject.Remote < best.Subject.Remote {
			best, n = k, count
		}
	}
	return best, n, looks, rows[best]
}

// waitsOn is the thread that the scheduler saw blocked longest in a read from or a write
// to one peer, for most of an interval, and the connection; nil where there is none.
// A connection that the process serves is waited on by whoever has nothing to do.
func waitsOn(p *scene.Process, r *recording.Recording, in, window recording.Interval) (*blockedIn, *scene.Socket) {
	b := blockedOf(p, r, []recording.Interval{in}, window, func(row recording.OffCPU) bool {
		if row.FD == nil || !measure.ReadCalls[row.Call] && !writes[row.Call] {
			return false
		}
		k := measure.SocketOn(p, *row.FD)
		return k != nil && !k.Listening() && (k.Listener == nil || writes[row.Call])
	})
	if b == nil || b.share() < mostOfIt || b.max < mostOfIt*min(b.looked, lastingWait) {
		return nil, nil
	}
	return b, measure.SocketOn(p, b.fd)
}

// lastingWait, s: one wait as long as that is no quick answer after the other.
const lastingWait = 2.0

// onPeer is what that says of a silence. The looks at the thread's call see the same.
func (b *blockedIn) onPeer(k *scene.Socket) suspect.Evidence {
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: b.share(), Unit: "share", Source: source.OffCPUOf, Origin: "system call",
		Text: b.text("the connection to " + cmp.Or(k.First().Remote, k.First().Local))}
}

// unanswered is the call of the process that waited longest in an interval.
func unanswered(r *recording.Recording, pid int, in recording.Interval) (worst recording.Turns) {
	in.End = in.End.Add(time.Second)
	for _, t := range r.Turns {
		if t.PID == pid && t.Role == "call" && in.Covers(t.T) && t.Oldest >= 1 && t.Oldest > worst.Oldest {
			worst = t
		}
	}
	return worst
}

// asked is a row of the interval in which an answer of a peer was awaited, or nil.
func asked(p *scene.Process, in recording.Interval) *recording.Socket {
	for _, k := range p.Sockets {
		if k.Listener != nil {
			continue
		}
		for i := range k.Rows {
			if in.Covers(k.Rows[i].T) && scene.Awaits(k.Rows[i]) {
				return &k.Rows[i]
			}
		}
	}
	return nil
}
