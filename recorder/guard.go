package recorder

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"snag/recording"
)

// Judge judges what a ring has of a time, and keeps what it judged in a file.
type Judge func(ctx context.Context, ring string, from, to recording.Time, out string) (Finding, error)

// What became of an incident (Plan.Report).
const (
	Begins = "begins"
	Ends   = "ends"
)

// guard has the recorder judge what it records, and notes and reports incidents.
type guard struct {
	plan Plan
	ring Ring

	vigil vigil
	now   Incident // that goes on; ID 0: none
	told  string   // the last error

	judging sync.WaitGroup
	found   chan judged
}

type judged struct {
	order order
	Finding
	id  int // of the folder that it was kept in
	err error
}

func newGuard(p Plan) *guard {
	return &guard{plan: p, ring: Ring{p.Dir}, found: make(chan judged, 1)}
}

// second is called once a second with what the tripwire noticed.
func (g *guard) second(ctx context.Context, now recording.Time, why string) {
	if g.plan.Judge == nil {
		return
	}
	select {
	case j := <-g.found:
		if err := g.take(j); err != nil && err.Error() != g.told {
			g.told = err.Error()
			g.plan.Note(g.told)
		}
	default:
	}
	o, ask := g.vigil.second(now, why)
	if !ask {
		return
	}
	id := g.now.ID
	g.judging.Go(func() { g.found <- g.judge(ctx, o, id) })
}

// judge judges into the folder of the incident that goes on, or a new one.
func (g *guard) judge(ctx context.Context, o order, id int) judged {
	j := judged{order: o, id: id}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if id == 0 {
		if j.id, j.err = g.ring.nextIncident(); j.err != nil {
			return j
		}
	}
	next := g.ring.Recording(j.id) + ".new"
	j.Finding, j.err = g.plan.Judge(ctx, g.plan.Dir, o.From, o.To, next)
	switch {
	case j.err != nil || !j.Hurt:
		_ = os.Remove(next)
		if id == 0 {
			_ = os.RemoveAll(g.ring.folder(j.id))
		}
	default:
		j.err = os.Rename(next, g.ring.Recording(j.id))
	}
	return j
}

// take takes what a judgement found.
func (g *guard) take(j judged) error {
	begins, ends := g.vigil.told(j.order, j.Hurt)
	if j.err != nil {
		return fmt.Errorf("judge what was recorded: %w", j.err)
	}
	switch {
	case begins:
		g.now = Incident{ID: j.id, Start: wall(g.vigil.began), Noticed: g.vigil.why, Finding: j.Finding, Judgements: 1}
		if err := g.ring.forget(g.plan.Limits.Size / incidentsPart); err != nil {
			return err
		}
	case g.now.ID == 0:
		return nil
	default:
		g.now.Judgements++
		if j.Hurt {
			g.now.Finding = j.Finding
		}
	}
	i := g.now
	if ends {
		i.End = wall(j.order.To)
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

// close waits for what is being judged.
func (g *guard) close() { g.judging.Wait() }
