package trial

import (
	"context"
	"fmt"
	"time"

	"snag/load/elimination"
)

// Run tries one thing after the other, until one finds a suspect or the time is over. What was measured
// until then is returned. began is called before each.
func Run(ctx context.Context, p Plan, began func(elimination.Experiment)) (*elimination.Measures, error) {
	t, err := newTrial(ctx, p)
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, p.Within)
	defer cancel()
	for _, e := range elimination.Experiments {
		if !t.m.Applies(e) {
			continue
		}
		if bounded.Err() != nil {
			t.m.Miss(e.ID, over(ctx, p))
			continue
		}
		if p.Beside && disturbing[e.ID] {
			t.m.Miss(e.ID, "left out while the host is recorded, as it loads the service or asks for what it may refuse: snag eliminate alone does it")
			continue
		}
		began(e)
		if !t.experiment(ctx, bounded, e.ID) {
			continue
		}
		if _, told := elimination.Told(elimination.Judge(t.m)); told && !p.All {
			break
		}
	}
	return t.m, nil
}

// disturbing experiments send many requests at a time, or others than were asked for.
var disturbing = map[string]bool{elimination.NullRequest: true, elimination.InBursts: true, elimination.ManyRates: true}

// experiment runs one experiment. False: it was cut off, and what it has is not what it was to have.
func (t *trial) experiment(ctx, bounded context.Context, id string) bool {
	before, begun := *t.m, time.Now()
	err := experiments[id](t, bounded)
	cut := bounded.Err() != nil
	if cut {
		missing := t.m.Missing
		*t.m = before
		t.m.Missing = missing
	}
	t.m.Took(id, elimination.Span{Begin: begun, End: time.Now()})
	t.m.Address = t.asked()
	switch {
	case cut:
		t.m.Miss(id, over(ctx, t.Plan))
		return false
	case err != nil:
		t.m.Miss(id, err.Error())
	}
	t.m.Done = append(t.m.Done, id)
	return true
}

// asked is the address of the service, as far as it is known.
func (t *trial) asked() string {
	switch {
	case t.live.IsValid():
		return t.live.String()
	case len(t.addresses) > 0:
		return t.addresses[0].String()
	}
	return ""
}

func over(ctx context.Context, p Plan) string {
	if ctx.Err() != nil {
		return "it was interrupted"
	}
	return fmt.Sprintf("no time was left of %s (--within)", p.Within)
}
