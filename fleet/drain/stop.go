package drain

import (
	"context"
	"fmt"

	"snag/fleet/drain/journal"
	"snag/fleet/drain/plan"
)

// stopped finishes what a batch had begun, as the plan's on_hurt says, and adds to the reason what could not be.
func (d *Drain) stopped(ctx context.Context, peers []plan.Peer, why *Stop) *Stop {
	if why.Why == Broken || d.plan.OnHurt == plan.HurtLeave {
		return why
	}
	ctx = context.WithoutCancel(ctx)
	for _, p := range peers {
		if err := d.finish(ctx, p, why); err != nil {
			s := asStop(err)
			why.Text = append(why.Text, fmt.Sprintf("%s, %s: %s", p.Name, s.Phase, s.Error()))
			if s.Why == Broken {
				return why
			}
		}
	}
	return why
}

// finish returns a peer to service. One that failed after its restart had begun stays out: clients would get it as it
// is. One whose restart had not begun is returned as it was, and is drained again when the drain goes on.
func (d *Drain) finish(ctx context.Context, p plan.Peer, why *Stop) error {
	s := d.peer(p.Name)
	failed := why.Peer == p.Name && (why.Phase == plan.Restart || why.Phase == plan.Answers || why.Phase == plan.Return)
	if !s.out() || failed {
		return nil
	}
	if d.untouched(s) {
		// Those of return that ran before a kill were for another purpose: all of them run.
		if err := d.actions(ctx, p, plan.Return, true, true); err != nil {
			return err
		}
		return d.note(journal.Record{Step: journal.Back, Peer: p.Name, Early: true})
	}
	one := []plan.Peer{p}
	for _, phase := range []plan.Phase{plan.Restart, plan.Answers, plan.Return} {
		if err := d.phase(ctx, one, phase, true); err != nil {
			return err
		}
	}
	return nil
}

// untouched reports whether the maintenance of a peer that is out of service had not begun.
func (d *Drain) untouched(s *peerState) bool {
	if len(d.plan.Restart) > 0 {
		return !s.started[plan.Restart]
	}
	return s.done[plan.Drain] < len(d.plan.Drain) || d.plan.Leave != nil && !s.passed[plan.Leaving]
}

// whatIsLeft names the peers that are out of service, and those that were not restarted.
func (d *Drain) whatIsLeft(s *Stop) {
	for _, p := range d.plan.Peers {
		switch state := d.peer(p.Name); {
		case state.out():
			s.Out = append(s.Out, p.Name)
		case !state.back:
			s.Left = append(s.Left, p.Name)
		}
	}
}
