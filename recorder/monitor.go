package recorder

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"snag/recording"
)

// Judge judges a time in a ring and saves the judged recording to the file out. It leaves out the streams
// that are known to be wrong (Without).
type Judge func(ctx context.Context, ring string, from, to recording.Time, known []string, out string) (Finding, error)

// Phases of an incident that are reported (Plan.Report).
const (
	Begins = "begins"
	Ends   = "ends"
)

// monitor judges the recording when the schedule says so, and saves and reports incidents.
type monitor struct {
	plan Plan
	ring Ring

	schedule schedule
	now      Incident // the current one; ID 0: none
	told     string   // last error reported
	ruled    bool     // a rule held since the last judgement
	known    []string // streams that are known to be wrong

	judging sync.WaitGroup
	found   chan judged
	looking chan looked // a closer look that no judgement has taken up; nil: none
}

type judged struct {
	order order
	Finding
	id           int // incident folder of the recording
	err, lookErr error
}

func newMonitor(p Plan) *monitor {
	return &monitor{plan: p, ring: Ring{p.Dir}, found: make(chan judged, 1)}
}

// second is called once a second with what was noticed.
func (g *monitor) second(ctx context.Context, now recording.Time, n notice) {
	if g.plan.Judge == nil {
		return
	}
	select {
	case j := <-g.found:
		g.note(g.take(j))
	default:
	}
	g.ruled = g.ruled || n.ruled
	if !slices.Equal(g.known, n.known) {
		g.known = n.known
		g.plan.Health.set(func(f *Status) { f.Known = n.known })
	}
	o, ask := g.schedule.second(now, n)
	if g.schedule.looks(now) {
		g.look(ctx)
	}
	if !ask {
		return
	}
	o.Ruled, g.ruled = g.ruled, false
	o.Known = g.known
	id, looking := g.now.ID, g.looking
	g.looking = nil
	g.judging.Go(func() {
		j := g.judge(ctx, o, id)
		if j.err == nil {
			g.closer(&j, looking)
		}
		g.found <- j
	})
}

// judge judges a time and saves it in the folder of the current incident, or in a new one.
func (g *monitor) judge(ctx context.Context, o order, id int) judged {
	j := judged{order: o, id: id}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if id == 0 {
		if j.id, j.err = g.ring.nextIncident(); j.err != nil {
			return j
		}
	}
	next := g.ring.Recording(j.id) + ".new"
	j.Finding, j.err = g.plan.Judge(ctx, g.plan.Dir, o.From, o.To, o.Known, next)
	switch {
	case j.err != nil || !j.Hurt && !o.Ruled:
		_ = recording.Remove(next)
		if id == 0 {
			_ = os.RemoveAll(g.ring.folder(j.id))
		}
	default:
		j.err = recording.Move(next, g.ring.Recording(j.id))
	}
	return j
}

// take processes the result of a judgement.
func (g *monitor) take(j judged) error {
	begins, ends := g.schedule.told(j.order, j.Hurt || j.order.Ruled)
	defer func() {
		g.schedule.proved = len(g.now.Culprits) > 0
		g.plan.Health.set(func(f *Status) {
			f.Judgements++
			if f.Incident = g.now; begins {
				f.Incidents++
			}
		})
	}()
	if j.err != nil {
		return fmt.Errorf("judge what was recorded: %w", j.err)
	}
	if j.lookErr != nil && j.lookErr.Error() != g.told {
		g.told = j.lookErr.Error()
		g.plan.Note("look closer: " + g.told)
	}
	switch {
	case begins:
		g.now = Incident{ID: j.id, Start: wall(g.schedule.began), Noticed: g.schedule.why, Finding: j.Finding, Judgements: 1}
		if err := g.ring.forget(g.plan.Limits.Size / incidentsPart); err != nil {
			return err
		}
	case g.now.ID == 0:
		return nil
	default:
		g.now.Judgements++
		if len(j.Culprits) == 0 && len(g.now.Culprits) > 0 { // what was proved once stays so
			j.Culprits, j.Standing, j.Looked = g.now.Culprits, g.now.Standing, g.now.Looked
		}
		if j.Hurt || !g.now.Hurt {
			g.now.Finding = j.Finding
		}
	}
	i := g.now
	if ends {
		i.End, i.Known = wall(j.order.To), j.order.Known
		g.now = Incident{}
	}
	err := g.ring.put(i)
	if begins || ends {
		what := Begins
		if ends {
			what = Ends
		}
		g.plan.Report(i, what)
	}
	return err
}

// close waits for a judgement in progress.
func (g *monitor) close() { g.judging.Wait() }

// end ends the incident that goes on: the clock moved, and the next session has a schedule of its own, which
// begins another if clients are still affected.
func (g *monitor) end(at recording.Time) {
	g.close()
	select {
	case j := <-g.found:
		if j.err == nil { // else it was cut off
			g.note(g.take(j))
		}
	default:
	}
	if g.now.ID == 0 {
		return
	}
	i := g.now
	i.End, i.Known = wall(at), g.known
	g.now = Incident{}
	g.plan.Health.set(func(f *Status) { f.Incident = g.now })
	g.note(g.ring.put(i))
	g.plan.Report(i, Ends)
}

// note writes an error to the journal, once in a row.
func (g *monitor) note(err error) {
	if err != nil && err.Error() != g.told {
		g.told = err.Error()
		g.plan.Note(g.told)
	}
}
