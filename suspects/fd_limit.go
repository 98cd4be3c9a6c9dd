package suspects

import (
	"fmt"
	"math"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
)

var fdLimit = &Suspect{
	Name:  "fd-limit",
	Title: "a process has no file descriptor left",
	About: "A process holds as many descriptors as RLIMIT_NOFILE allows. accept4 fails with EMFILE; the kernel goes on completing handshakes, so that clients connect, send, and are never answered.",
	Needs: []Need{
		{Measure: "host.processes", Must: true, Why: "descriptors in use, and the limit"},
		{Measure: "sockets.diag", Must: true, Why: "the accept queue of its listener, and connections that no process owns"},
		{Measure: "sockets.owner", Why: "whose the listener is"},
	},
	For: []string{
		"decisive: its descriptors stand at the limit while its accept queue is never empty (fds = limit 1024, accept4 EMFILE)",
		"strong: established connections to its port that no process owns, more and more",
	},
	Against: []string{
		"decisive: descriptors are left, whatever the accept queue does",
		"decisive: at the limit, and connections are accepted as they come",
		"traps: file-nr of the host is normal; connect() of clients still succeeds; 70 % of the limit is nothing",
	},
	LeadsTo: []Lead{
		{To: "listen-overflow", Lag: 30 * time.Second}, {To: "peer-reset", Lag: 30 * time.Second}, {To: "reconnect-storm", Lag: 30 * time.Second},
		{To: scene.ConnectionErrors, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second},
		{To: scene.StreamFreeze, Lag: 5 * time.Second},
	},
	Remedy: "LimitNOFILE= of the unit (limits.conf is ignored by units), restart it; and look for the leak. Verified by: descriptors below the limit, accept queue empty",
	Next:   "for p in /proc/[0-9]*; do echo \"$(ls $p/fd 2>/dev/null | wc -l) $(awk '/open files/{print $4}' $p/limits) $(cat $p/comm)\"; done | sort -rn | head",
	Weigh:  weighFDLimit,
}

// A process opens a descriptor to read /proc or to log and closes it again: one
// below the limit is at the limit too.
const fdSlack = 1

// Accept queues that hold a connection now and then are normal; one that held
// some in this share of the samples is not being emptied.
const unacceptedShare = 0.8

func weighFDLimit(s *scene.Scene, r *recording.Recording) []Finding {
	var out []Finding
	for _, p := range s.Processes {
		full, seen, used := atLimit(p)
		if seen == 0 || full == nil && float64(used) < 0.9*float64(p.Last().FDLimit) {
			continue
		}
		l, waits := fullestListener(p)
		f := Finding{Subject: p.Subject, Active: full,
			Text: fmt.Sprintf("it holds %s of %s descriptors", count(float64(used)), count(float64(p.Last().FDLimit))),
			Next: fmt.Sprintf("ls /proc/%d/fd | wc -l; grep 'open files' /proc/%d/limits; strace -f -e trace=accept4 -p %d", p.Subject.PID, p.Subject.PID, p.Subject.PID)}
		source := fmt.Sprintf("/proc/%d/fd, /proc/%d/limits", p.Subject.PID, p.Subject.PID)
		switch {
		case full == nil:
			f.Evidence = append(f.Evidence, Evidence{Side: Against, Grade: Decisive, Value: float64(used), Unit: "descriptors", Source: source,
				Text: fmt.Sprintf("%s of %s descriptors at most: some are left", count(float64(used)), count(float64(p.Last().FDLimit)))})
		case l == nil:
			f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Strong, Value: float64(used), Unit: "descriptors", Source: source,
				Text: fmt.Sprintf("%s descriptors of %s; it has no listener that would show what fails", count(float64(used)), count(float64(p.Last().FDLimit)))})
		case waits.share < unacceptedShare:
			f.Evidence = append(f.Evidence, Evidence{Side: Against, Grade: Decisive, Value: waits.share, Unit: "ratio", Source: "ss -ltn Recv-Q",
				Text: fmt.Sprintf("at the limit, and its accept queue was empty in %s of the samples", units.Percent(1-waits.share))})
		default:
			f.exhausted(s, p, l, waits, full, used, source)
		}
		out = append(out, f)
	}
	return out
}

// exhausted fills in the finding of a process whose connections nobody accepts.
func (f *Finding) exhausted(s *scene.Scene, p *scene.Process, l *scene.Socket, w queued, full []recording.Interval, used int, source string) {
	limit := count(float64(p.Last().FDLimit))
	f.Related = append(f.Related, l.Subject)
	f.Text = fmt.Sprintf("all its %s descriptors are in use: it can't accept; up to %s connections to %s wait unanswered", limit, count(w.most), l.First().Local)
	f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Decisive, Value: float64(used), Unit: "descriptors", Source: source + "; ss -ltn Recv-Q",
		Text: fmt.Sprintf("%s descriptors of %s for %s, and the accept queue of %s was never empty (up to %s)", count(float64(used)), limit,
			lasting(totalLength(full, s.Window.End)), l.First().Local, count(w.most))})
	if n := orphans(s, l); n > 0 {
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Strong, Value: n, Unit: "connections", Source: "ss -tnp",
			Text: fmt.Sprintf("%s established connections to it belong to no process", count(n))})
	}
	f.Harm = Harm{Symptom: scene.ConnectionErrors, Amount: w.most, Unit: "connections",
		Text: fmt.Sprintf("up to %s connections at once were never accepted", count(w.most))}
	more := math.Max(65536, 4*float64(p.Last().FDLimit))
	f.Remedy = fmt.Sprintf("prlimit --pid %d --nofile=%.0f:%.0f now, as root; then ulimit -n or LimitNOFILE=%.0f where it is started, and look for what it does not close",
		p.Subject.PID, more, more, more)
	if u := p.Last().Unit; u != "" {
		f.Remedy = fmt.Sprintf("LimitNOFILE=%.0f in the unit %s (is %s; limits.conf is ignored by units), restart it; and look for what it does not close", more, u, limit)
	}
}

// atLimit is when the process stood at its limit, in how many samples its
// descriptors were counted, and the most of them. Not counted is not zero.
func atLimit(p *scene.Process) (full []recording.Interval, seen, most int) {
	for i, row := range p.Rows {
		if row.FDs == nil || row.FDLimit <= 0 {
			continue
		}
		seen++
		most = max(most, *row.FDs)
		if *row.FDs < row.FDLimit-fdSlack {
			continue
		}
		end := row.T.Add(time.Second)
		if i+1 < len(p.Rows) {
			end = p.Rows[i+1].T
		}
		full = append(full, recording.Interval{Start: row.T, End: end})
	}
	return mergeIntervals(full, 0), seen, most
}

type queued struct{ share, most float64 }

// fullestListener is the process' listener whose accept queue held connections
// in most samples, of those that could be seen.
func fullestListener(p *scene.Process) (*scene.Socket, queued) {
	var found *scene.Socket
	var w queued
	for _, k := range p.Sockets {
		if !k.Listening() {
			continue
		}
		var q queued
		for _, row := range k.Rows {
			if row.RecvQ > 0 {
				q.share += 1 / float64(len(k.Rows))
			}
			q.most = math.Max(q.most, float64(row.RecvQ))
		}
		if found == nil || q.share > w.share {
			found, w = k, q
		}
	}
	return found, w
}

// orphans are connections to the listener that no process owns: completed by the
// kernel and not accepted.
func orphans(s *scene.Scene, l *scene.Socket) float64 {
	n := 0.0
	for _, k := range s.Sockets {
		if k.Listener == l && len(k.Owners) == 0 && seenEstablished(k) {
			n++
		}
	}
	return n
}
