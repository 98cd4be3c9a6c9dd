package drain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"snag/fleet/drain/health"
	"snag/fleet/drain/journal"
	"snag/fleet/drain/plan"
	"snag/internal/units"
)

// World is what a drain does and asks. Tests have one of their own.
type World struct {
	Do    func(ctx context.Context, a plan.Action, phase plan.Phase) error
	Count func(ctx context.Context, l plan.Leave) (float64, error)
	Ready func(ctx context.Context, r plan.Ready) error
	Look  func(ctx context.Context) health.Seen // nil: the plan has no health
	Text  func(a plan.Action, phase plan.Phase) string
	Say   func(Event)
	Poll  time.Duration // between two looks at what is waited for; 0: 500 ms
}

// Drain carries out one plan.
type Drain struct {
	World
	plan    *plan.Plan
	batches [][]plan.Peer
	journal *journal.Journal
	*Progress

	batch   int // from 1; 0: before the first
	base    health.Baseline
	begun   time.Time // of the batch
	last    health.Seen
	looked  time.Time
	unknown time.Time // since when health is not known; zero: it is
}

// New makes a drain of a plan that was checked by Progress.May.
func New(p *plan.Plan, j *journal.Journal, g *Progress, w World) *Drain {
	if w.Poll == 0 {
		w.Poll = 500 * time.Millisecond
	}
	return &Drain{World: w, plan: p, batches: p.Batches(), journal: j, Progress: g}
}

// note appends a record, and takes it into the progress. Its error is a *Stop.
func (d *Drain) note(r journal.Record) error {
	if err := d.journal.Append(r); err != nil {
		return &Stop{Why: Broken, Peer: r.Peer, Phase: r.Phase, Text: []string{err.Error()}, Err: err}
	}
	d.take(d.journal.Records[len(d.journal.Records)-1])
	return nil
}

// Run drains until all peers were restarted, a step hurts, or ctx ends. Its error is a *Stop. What has begun is not
// left half done when ctx ends.
func (d *Drain) Run(ctx context.Context, how How, sum string) error {
	started := time.Now()
	stop := d.run(ctx, how, sum)
	if stop == nil {
		stop = asStop(d.note(journal.Record{Step: journal.Done}))
	}
	if stop == nil {
		d.say(Event{Event: EvDone, Seconds: time.Since(started).Seconds(), Text: units.Plural(len(d.plan.Peers), "peer")})
		return nil
	}
	stop.Batch, stop.Of = d.batch, len(d.batches)
	d.whatIsLeft(stop)
	d.say(Event{Event: EvStopped, Why: stop.Why, Batch: stop.Batch, Of: stop.Of, Peer: stop.Peer, Phase: stop.Phase, Text: stop.Error(), Out: stop.Out, Left: stop.Left})
	_ = d.note(journal.Record{Step: journal.Stopped, Peer: stop.Peer, Phase: stop.Phase, Why: stop.Error()}) // it stops anyway
	return stop
}

func asStop(err error) *Stop {
	var s *Stop
	if err == nil {
		return nil
	}
	if errors.As(err, &s) {
		return s
	}
	return &Stop{Why: Broken, Text: []string{err.Error()}, Err: err}
}

func (d *Drain) run(ctx context.Context, how How, sum string) *Stop {
	first := journal.Record{Step: journal.Begun, Plan: sum}
	if d.plan.PeersFrom != "" {
		first.Peers = d.plan.Peers
	}
	if how.Resume {
		first = journal.Record{Step: journal.Resumed, Text: how.Answer}
	}
	batch, at, base, killed := d.Batch, d.BatchAt, d.Base, how.Resume && !d.Stopped
	if err := d.first(ctx); err != nil {
		return asStop(err)
	}
	if err := d.note(first); err != nil {
		return asStop(err)
	}
	for i, peers := range d.batches {
		again := killed && batch == i+1 // what the batch did before the kill is not how it was before
		if d.allBack(peers) && !again {
			continue
		}
		d.batch, d.base, d.begun = i+1, d.last.Fleet, time.Now()
		if again {
			d.base, d.begun = base, at
		}
		if !d.allBack(peers) {
			if err := d.step(ctx, peers); err != nil {
				return d.stopped(ctx, peers, asStop(err))
			}
		}
		if err := d.between(ctx, i); err != nil {
			return asStop(err)
		}
	}
	return nil
}

func (d *Drain) allBack(peers []plan.Peer) bool {
	for _, p := range peers {
		if !d.peer(p.Name).back {
			return false
		}
	}
	return true
}

// between waits after a batch, and until all is healthy.
func (d *Drain) between(ctx context.Context, i int) error {
	settle := d.plan.Health.Settle.Or(plan.HealthSettle)
	if d.Look == nil {
		settle = 0
	}
	if err := d.wait(ctx, settle); err != nil {
		return err
	}
	if err := d.gate(ctx); err != nil {
		return err
	}
	if i+1 == len(d.batches) {
		return nil
	}
	pause := d.plan.Pause.D
	if j := d.plan.Jitter.D; j > 0 {
		pause += rand.N(j)
	}
	if pause == 0 {
		return nil
	}
	d.say(Event{Event: EvPause, Seconds: pause.Seconds()})
	if err := d.wait(ctx, pause); err != nil {
		return err
	}
	return d.gate(ctx)
}

// step drains, restarts and returns the peers of one batch.
func (d *Drain) step(ctx context.Context, peers []plan.Peer) error {
	var names []string
	for _, p := range peers {
		names = append(names, p.Name)
	}
	d.say(Event{Event: EvBatch, Batch: d.batch, Of: len(d.batches), Peers: names})
	if err := d.note(journal.Record{Step: journal.Batch, N: d.batch, Base: d.base}); err != nil {
		return err
	}
	for _, phase := range []plan.Phase{plan.Drain, plan.Leaving, plan.Restart, plan.Answers, plan.Return} {
		if err := d.phase(ctx, peers, phase, false); err != nil {
			return err
		}
	}
	return nil
}

// phase does one phase with all peers of a batch that still need it. ending: the drain stops, and what has begun is
// finished.
func (d *Drain) phase(ctx context.Context, peers []plan.Peer, phase plan.Phase, ending bool) error {
	var left []plan.Peer
	for _, p := range peers {
		if s := d.peer(p.Name); !s.back && (phase != plan.Leaving || !s.started[plan.Restart]) {
			left = append(left, p)
		}
	}
	if phase == plan.Leaving || phase == plan.Answers {
		return d.await(ctx, left, phase, ending)
	}
	for _, p := range left {
		if err := d.actions(ctx, p, phase, false, ending); err != nil {
			return err
		}
		if phase == plan.Return {
			if err := d.note(journal.Record{Step: journal.Back, Peer: p.Name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// actions are those of one phase and peer that are not done yet.
func (d *Drain) actions(ctx context.Context, p plan.Peer, phase plan.Phase, early, ending bool) error {
	all := d.plan.Actions(phase)
	for n := d.peer(p.Name).done[phase] + 1; n <= len(all); n++ {
		if !ending {
			if err := d.mind(ctx); err != nil {
				return err
			}
		}
		a, err := p.FillAction(all[n-1])
		if err != nil {
			return &Stop{Why: Hurts, Peer: p.Name, Phase: phase, Text: []string{err.Error()}}
		}
		r := journal.Record{Step: journal.Will, Peer: p.Name, Phase: phase, N: n, Text: d.Text(a, phase), Early: early}
		if err := d.note(r); err != nil {
			return err
		}
		started := time.Now()
		err = d.Do(context.WithoutCancel(ctx), a, phase) // a signal must not end it half way
		took := time.Since(started).Seconds()
		if err != nil {
			why := fmt.Sprintf("%s: %v", r.Text, err)
			d.say(Event{Event: EvFailed, Peer: p.Name, Phase: phase, Text: why, Seconds: took})
			r.Step, r.Why = journal.Failed, err.Error()
			return errors.Join(&Stop{Why: Hurts, Peer: p.Name, Phase: phase, Text: []string{why}, Err: err}, d.note(r))
		}
		r.Step = journal.Did
		if err := d.note(r); err != nil {
			return err
		}
		d.say(Event{Event: EvDid, Peer: p.Name, Phase: phase, Text: r.Text, Seconds: took})
	}
	return nil
}

func (d *Drain) say(e Event) {
	e.At = time.Now()
	d.Say(e)
}
