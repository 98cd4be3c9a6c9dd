package recorder

import (
	"context"
	"path/filepath"
	"time"

	"snag/recording"
)

// Look takes a closer look at the host now, and saves its recording in the folder out.
type Look func(ctx context.Context, ring, out string) (Finding, error)

// A closer look begins when the trigger fires, so that it ends with the settling time. It is taken by
// another process: the closest probes, which cost most, run only then.
const mostLook = 40 * time.Second

// lookDir holds the latest closer look until it is known whether an incident begins.
const lookDir = "look"

// looked is the result of a closer look.
type looked struct {
	Finding
	err error
}

// look begins a closer look if none is in progress.
func (g *monitor) look(ctx context.Context) {
	if g.plan.Look == nil || g.looking != nil {
		return
	}
	result := make(chan looked, 1)
	g.looking = result
	g.judging.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, mostLook)
		defer cancel()
		f, err := g.plan.Look(ctx, g.plan.Dir, g.lookDir())
		result <- looked{f, err}
	})
}

func (g *monitor) lookDir() string { return filepath.Join(g.plan.Dir, lookDir) }

// closer adds what a closer look found to a judgement: it names the culprit where the recording alone
// proves none.
func (g *monitor) closer(j *judged, looking <-chan looked) {
	if looking == nil {
		return
	}
	l := <-looking
	if l.err != nil || !j.Hurt && !j.order.Ruled {
		j.lookErr = l.err
		_ = recording.Remove(g.lookDir())
		return
	}
	if len(j.Culprits) == 0 && len(l.Culprits) > 0 {
		j.Standing, j.Hurt, j.Culprits, j.Looked = l.Standing, true, l.Culprits, true
	}
	j.lookErr = recording.Move(g.lookDir(), g.ring.Look(j.id))
}

// Look is the folder of an incident's closer look. There may be none.
func (r Ring) Look(id int) string { return filepath.Join(r.folder(id), lookDir) }
