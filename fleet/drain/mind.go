package drain

import (
	"context"
	"fmt"
	"strings"
	"time"

	"snag/fleet/drain/health"
	"snag/fleet/drain/plan"
	"snag/internal/units"
)

// mind says why the drain has to stop now: a signal, harm, or health that is not known for too long. It looks at health
// as often as the plan says.
func (d *Drain) mind(ctx context.Context) error {
	if ctx.Err() != nil {
		return asked()
	}
	if d.Look == nil || time.Since(d.looked) < d.plan.Health.Every.Or(plan.HealthEvery) {
		return nil
	}
	_, err := d.look(ctx)
	return err
}

func asked() *Stop { return &Stop{Why: Signal, Text: []string{"a signal asked it to stop"}} }

func (d *Drain) look(ctx context.Context) (o health.Outcome, err error) {
	d.last = d.Look(context.WithoutCancel(ctx))
	d.looked = time.Now()
	o = health.Compare(d.base, d.begun, d.last, d.outOfService())
	if len(o.Hurt) > 0 {
		return o, &Stop{Why: Hurts, Text: o.Hurt}
	}
	return o, d.tooLongUnknown(o)
}

// tooLongUnknown stops a drain whose health is not known for longer than the plan allows.
func (d *Drain) tooLongUnknown(o health.Outcome) error {
	if len(o.Unknown) == 0 {
		d.unknown = time.Time{}
		return nil
	}
	if d.unknown.IsZero() {
		d.unknown = d.last.At
		d.say(Event{Event: EvUnknown, Text: strings.Join(o.Unknown, "; ")})
	}
	most := d.plan.Health.Unknown.Or(plan.HealthUnknown)
	if time.Since(d.unknown) < most {
		return nil
	}
	text := []string{fmt.Sprintf("whether all is healthy is not known for %s", most)}
	return &Stop{Why: Unknown, Text: append(text, o.Unknown...)}
}

// wait waits, and minds health meanwhile.
func (d *Drain) wait(ctx context.Context, how time.Duration) error {
	for end := time.Now().Add(how); ; {
		if err := d.mind(ctx); err != nil {
			return err
		}
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(left, d.Poll)):
		}
	}
}

// gate waits until all was seen and is healthy: no batch begins before.
func (d *Drain) gate(ctx context.Context) error {
	for d.Look != nil {
		o, err := d.look(ctx)
		if err != nil {
			return err
		}
		if o.Healthy() {
			d.say(Event{Event: EvHealthy, Text: d.seen()})
			return nil
		}
		if err := d.wait(ctx, d.plan.Health.Every.Or(plan.HealthEvery)); err != nil {
			return err
		}
	}
	return nil
}

// first looks before anything is done: what is wrong then could not be seen getting worse.
func (d *Drain) first(ctx context.Context) error {
	if d.Look == nil {
		d.say(Event{Event: EvNote, Text: "the plan says that no health is looked at"})
		return d.mind(ctx)
	}
	for {
		if ctx.Err() != nil {
			return asked()
		}
		d.last = d.Look(context.WithoutCancel(ctx))
		d.looked = time.Now()
		o, notes := health.First(d.last, d.outOfService())
		if len(o.Hurt) > 0 {
			return &Stop{Why: Hurts, Text: append([]string{"it is not healthy already, and nothing was done"}, o.Hurt...)}
		}
		if o.Healthy() {
			d.base = d.last.Fleet
			for _, text := range notes {
				d.say(Event{Event: EvNote, Text: text})
			}
			d.say(Event{Event: EvHealthy, Text: d.seen()})
			return nil
		}
		if err := d.tooLongUnknown(o); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(d.plan.Health.Every.Or(plan.HealthEvery), time.Second)):
		}
	}
}

// seen counts what was seen to be healthy.
func (d *Drain) seen() string {
	var all []string
	if d.last.Fleet != nil {
		affected := 0
		for _, h := range d.last.Fleet {
			if h.Affected {
				affected++
			}
		}
		text := fmt.Sprintf("%s, %d affected", units.Plural(len(d.last.Fleet), "host"), affected)
		if n := d.last.Fleet.Unseen(); n > 0 {
			text += fmt.Sprintf(", %d not seen", n)
		}
		all = append(all, text)
	}
	if n := len(d.last.Streams); n > 0 {
		all = append(all, units.Plural(n, "stream"))
	}
	if n := len(d.last.Checks); n > 0 {
		all = append(all, units.Plural(n, "check"))
	}
	return strings.Join(all, ", ")
}

// outOfService are the peers of the batch that are out of service, and those that came back in it.
func (d *Drain) outOfService() health.Out {
	out := health.Out{Hosts: map[string]bool{}, Addresses: map[string]bool{}, Back: map[string]bool{}, BackAddresses: map[string]bool{}}
	for i, peers := range d.batches {
		for _, p := range peers {
			switch s := d.peer(p.Name); {
			case s.out():
				out.Hosts[p.HostName()], out.Addresses[p.Address] = true, true
			case s.back && i+1 == d.batch:
				out.Back[p.HostName()], out.BackAddresses[p.Address] = true, true
			}
		}
	}
	return out
}
