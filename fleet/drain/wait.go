package drain

import (
	"context"
	"fmt"
	"sync"
	"time"

	"snag/fleet/drain/journal"
	"snag/fleet/drain/plan"
	"snag/internal/units"
)

// waiting is one peer that something is waited for of.
type waiting struct {
	peer plan.Peer
	ask  func(context.Context) (passed bool, text string, err error)
	text string // what was seen last
	err  error  // why nothing was seen
}

// await waits until the connections of all peers are gone, or until all answer.
func (d *Drain) await(ctx context.Context, peers []plan.Peer, phase plan.Phase, ending bool) error {
	timeout, all, err := d.waitingFor(peers, phase)
	if err != nil || len(all) == 0 {
		return err
	}
	said := false
	for started := time.Now(); ; {
		if all, err = d.ask(ctx, all, phase, started); err != nil || len(all) == 0 {
			return err
		}
		if !said {
			d.sayWaits(all, phase, timeout)
			said = true
		}
		if time.Since(started) >= timeout {
			return d.tooLong(all, phase, timeout)
		}
		if ending {
			time.Sleep(d.Poll)
		} else if err := d.wait(ctx, d.Poll); err != nil {
			return err
		}
	}
}

func (d *Drain) sayWaits(all []*waiting, phase plan.Phase, timeout time.Duration) {
	for _, w := range all {
		text := w.text
		if w.err != nil {
			text = "not counted: " + w.err.Error()
		}
		d.say(Event{Event: EvWaits, Peer: w.peer.Name, Phase: phase, Text: text + ":", Seconds: timeout.Seconds()})
	}
}

func (d *Drain) waitingFor(peers []plan.Peer, phase plan.Phase) (timeout time.Duration, all []*waiting, err error) {
	for _, p := range peers {
		w := &waiting{peer: p}
		switch {
		case phase == plan.Leaving && d.plan.Leave != nil && !d.peer(p.Name).passed[phase]:
			timeout = d.plan.Leave.Timeout.Or(plan.LeaveTimeout)
			l, err := p.FillLeave(d.plan.Leave)
			if err != nil {
				return 0, nil, &Stop{Why: Hurts, Peer: p.Name, Phase: phase, Text: []string{err.Error()}}
			}
			w.ask = func(ctx context.Context) (bool, string, error) {
				n, err := d.Count(ctx, *l)
				return n <= l.Most, units.Plural(int(n), "connection"), err
			}
		case phase == plan.Answers && d.plan.Ready != nil:
			timeout = d.plan.Ready.Timeout.Or(plan.ReadyTimeout)
			r, err := p.FillReady(d.plan.Ready)
			if err != nil {
				return 0, nil, &Stop{Why: Hurts, Peer: p.Name, Phase: phase, Text: []string{err.Error()}}
			}
			w.ask = func(ctx context.Context) (bool, string, error) {
				if err := d.Ready(ctx, *r); err != nil {
					return false, err.Error(), nil //nolint:nilerr // that it does not answer is what was seen
				}
				return true, "it answers", nil
			}
		default:
			continue
		}
		all = append(all, w)
	}
	return timeout, all, nil
}

// ask asks all at the same time, and returns those that are still waited for.
func (d *Drain) ask(ctx context.Context, all []*waiting, phase plan.Phase, started time.Time) (left []*waiting, err error) {
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.plan.Health.Limit.Or(plan.HealthLimit))
	defer cancel()
	passed := make([]bool, len(all))
	var asking sync.WaitGroup
	for i, w := range all {
		asking.Go(func() { passed[i], w.text, w.err = w.ask(limit) })
	}
	asking.Wait()
	for i, w := range all {
		if !passed[i] || w.err != nil {
			left = append(left, w)
			continue
		}
		if err := d.pass(w, phase, w.text, started); err != nil {
			return nil, err
		}
	}
	return left, nil
}

func (d *Drain) pass(w *waiting, phase plan.Phase, text string, started time.Time) error {
	d.say(Event{Event: EvPassed, Peer: w.peer.Name, Phase: phase, Text: text, Seconds: time.Since(started).Seconds()})
	return d.note(journal.Record{Step: journal.Passed, Peer: w.peer.Name, Phase: phase})
}

// tooLong says what did not come in time, or goes on all the same where the plan says so.
func (d *Drain) tooLong(all []*waiting, phase plan.Phase, timeout time.Duration) error {
	for _, w := range all {
		s := &Stop{Why: Hurts, Peer: w.peer.Name, Phase: phase}
		switch {
		case w.err != nil:
			s.Why, s.Text = Unknown, []string{fmt.Sprintf("its connections could not be counted within %s: %v", timeout, w.err)}
			return s
		case phase == plan.Leaving && d.plan.Leave.Then == plan.ThenGoOn:
			if err := d.pass(w, phase, fmt.Sprintf("%s left after %s; the plan says go-on", w.text, timeout), time.Now().Add(-timeout)); err != nil {
				return err
			}
			continue
		case phase == plan.Leaving:
			s.Text = []string{fmt.Sprintf("%s left after %s, and the plan allows %g", w.text, timeout, d.plan.Leave.Most)}
		default:
			s.Text = []string{fmt.Sprintf("it did not come back within %s: %s", timeout, w.text)}
		}
		return s
	}
	return nil
}
