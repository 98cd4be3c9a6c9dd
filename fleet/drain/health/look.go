package health

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"snag/fleet/drain/act"
	"snag/fleet/drain/plan"
	"snag/fleet/hosts"
	"snag/internal/shown"
)

// Looker asks the store, the streams and the checks.
type Looker struct {
	Store   hosts.Querier   // nil: none
	Hosts   string          // matchers
	Streams func() []Stream // nil: none
	Checks  []plan.Check
	Limit   time.Duration // of one answer
}

// Look asks all at the same time. It returns within the limit, whatever answers: who does not is unknown.
func (l *Looker) Look(ctx context.Context) Seen {
	now := time.Now()
	ctx, cancel := context.WithTimeout(ctx, l.Limit)
	defer cancel()
	seen := Seen{At: now, Checks: make([]Check, len(l.Checks))}
	var all sync.WaitGroup
	if l.Store != nil {
		all.Go(func() { seen.Fleet, seen.NoFleet = l.fleet(ctx, now) })
	}
	for i, c := range l.Checks {
		all.Go(func() { seen.Checks[i] = l.check(ctx, c, i) })
	}
	all.Wait()
	if l.Streams != nil {
		seen.Streams = l.Streams()
	}
	return seen
}

func (l *Looker) fleet(ctx context.Context, now time.Time) (Baseline, string) {
	f, err := hosts.Read(ctx, l.Store, l.Hosts, now)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Sprintf("the store does not answer within %s", l.Limit)
	case err != nil:
		return nil, err.Error()
	case len(f.Warnings) > 0:
		return nil, "the store answers in part: " + f.Warnings[0]
	}
	out := Baseline{}
	for name, h := range f.Hosts {
		if h.Chosen {
			out[name] = hostOf(h)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Sprintf("the store has no host with %s", l.Hosts)
	}
	return out, ""
}

func hostOf(h *hosts.Host) Host {
	out := Host{Affected: h.Affected()}
	switch {
	case h.Gone:
		out.Unseen = "its recorder has sent nothing since " + h.Seen.UTC().Format("15:04:05 UTC")
	case !h.Recording:
		out.Unseen = "its recorder is paused, as its disk is full"
	case h.Shared != "":
		out.Unseen = h.Shared
	}
	if !out.Affected {
		return out
	}
	out.Since = h.Since
	for _, s := range h.Symptoms {
		out.Symptoms = append(out.Symptoms, strings.TrimSpace(s.Name+" of "+shown.Text(s.Subject)))
	}
	if len(h.Culprits) > 0 {
		out.Culprit = h.Culprits[0].Name + ", " + shown.Text(h.Culprits[0].Subject)
	}
	return out
}

func (l *Looker) check(ctx context.Context, c plan.Check, i int) Check {
	out := Check{Name: c.Name}
	if out.Name == "" {
		out.Name = fmt.Sprint(i + 1)
	}
	var err error
	if len(c.Run) > 0 {
		err = act.Run(ctx, c.Run)
	} else {
		err = act.Request(ctx, *c.HTTP)
	}
	switch {
	case err == nil:
	case errors.Is(err, act.ErrLate), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		out.Late = fmt.Sprintf("no answer within %s", l.Limit)
	default:
		out.Failed = err.Error()
	}
	return out
}
