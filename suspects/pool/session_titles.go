package pool

import (
	"fmt"
	"slices"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// What a session's process says of itself in its title (update_process_title of PostgreSQL): that
// it waits for a lock, and that its transaction is open while its client says nothing.
const (
	waitsByTitle = " waiting"
	holdsByTitle = " idle in transaction"
)

// lockedByTitle finds sessions that wait for a lock in every sample, for 3 s and longer, while another
// session of the same service is idle in a transaction. One that waits is enough: of a pooler's sessions
// the first may keep all others from asking.
func lockedByTitle(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	for _, k := range s.Sockets {
		if !k.Listening() || k.Owner() == nil {
			continue
		}
		var waiting, holding []*scene.Process
		var since, until recording.Time
		for _, p := range s.Processes {
			switch {
			case p.First().PPID != k.Owner().Subject.PID || !hasSession(p, k):
			case saysSo(p, waitsByTitle):
				waiting = append(waiting, p)
				if from := p.First().T; since == 0 || from < since {
					since, until = from, p.Last().T
				}
			case saysSo(p, holdsByTitle):
				holding = append(holding, p)
			}
		}
		if len(waiting) == 0 || len(holding) == 0 {
			continue
		}
		waited := units.Lasting(until.Sub(since).Seconds())
		// Those who call it wait for the lock: that it is late for them is no cause of it.
		f := suspect.Finding{Subject: k.Subject, NotBy: []string{"slow-dependency"}, Active: []recording.Interval{{Start: since, End: s.Window.End}}, Next: whoBlocks(recording.Port(k.First().Local)),
			Text: fmt.Sprintf("%s of it waited for a lock for %s and longer, while %s idle in a transaction", units.Plural(len(waiting), "session"), waited, areIdle(len(holding)))}
		f.Evidence = []suspect.Evidence{
			{Side: suspect.For, Grade: suspect.Strong, Value: float64(len(waiting)), Unit: "sessions", Source: source.Of("ps -o args"), Origin: "titles",
				Text: fmt.Sprintf("%s said so in its title in each sample: %q", waiting[0].Subject.Name, waiting[0].Last().Cmdline)},
			{Side: suspect.For, Grade: suspect.Strong, Value: float64(len(holding)), Unit: "sessions", Source: source.SS("-ti", source.BytesReceived).And(source.Of("ps -o args")), Origin: "sessions",
				Text: fmt.Sprintf("%s was %q in each sample, and its connection carried nothing meanwhile", holding[0].Subject.Name, strings.TrimSpace(holdsByTitle))},
		}
		for _, p := range slices.Concat(holding, waiting)[:min(len(holding)+len(waiting), measure.MostRelated)] {
			f.Related = append(f.Related, p.Subject)
		}
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: until.Sub(since).Seconds(), Unit: "s", Text: f.Text}
		out = append(out, f)
	}
	return out
}

func areIdle(n int) string {
	if n == 1 {
		return "another was"
	}
	return fmt.Sprintf("%d others were", n)
}

// saysSo reports whether a process' title ended so in every sample of it, two and more over 3 s.
func saysSo(p *scene.Process, end string) bool {
	return len(p.Rows) >= 2 && p.Last().T.Sub(p.First().T).Seconds() >= longOpenYet &&
		!slices.ContainsFunc(p.Rows, func(row recording.Process) bool { return !strings.HasSuffix(row.Cmdline, end) })
}

// hasSession reports whether a process has a client's connection of that listener, which carried nothing
// in the samples of it.
func hasSession(p *scene.Process, k *scene.Socket) bool {
	return slices.ContainsFunc(p.Sockets, func(c *scene.Socket) bool {
		a, z := c.First(), c.Last()
		return c.Listener == k && !c.Listening() && len(c.Rows) >= 2 && a.TCP != nil && z.TCP != nil &&
			a.TCP.BytesSent == z.TCP.BytesSent && a.TCP.BytesReceived == z.TCP.BytesReceived
	})
}
