package pages

import (
	"context"
	"errors"
	"sync"
	"time"

	"snag/fleet/fetch"
	"snag/fleet/hosts"
)

// Fleet is what the page of many hosts is made of; docs/serve.md.
type Fleet struct {
	// Store is its URL, which has no secret in it.
	Store string
	// Read asks it, and discovery, what is known of all hosts now.
	Read func(ctx context.Context, at time.Time) (*hosts.Fleet, error)
	// Of asks for more of the same hosts.
	Of interface {
		hosts.Querier
		hosts.Ranger
	}
	Chosen string       // matchers of the hosts that are shown; "" is all
	Links  *fetch.Links // of the hosts' own pages; nil: there are none
}

// Bounds of what a store is asked.
const (
	askEvery      = 10 * time.Second // after the end of the last time
	timelineEvery = time.Minute
	askTime       = 30 * time.Second // for the hosts, and as much for their timeline and links
	patience      = 8 * time.Second  // how long a reader waits for the answer
	stillNow      = 30 * time.Second // how old an answer may be that passes for now
	span          = 24 * time.Hour   // of the timeline
)

// asked has a store asked for all readers together: never while nobody reads, and one time after the other.
type asked struct {
	Fleet

	mu       sync.Mutex
	under    chan struct{} // closed when the time that is under way ends; nil: none is
	began    time.Time     // the last time
	ended    time.Time
	failed   string    // why the last time gave nothing; "": it did
	since    time.Time // when it first failed
	fleet    *hosts.Document
	timeline *hosts.Timeline
	old      string // why the timeline is not of the last time
	links    map[string]string
}

// fleetState is what the page shows (ui/src/model/fleet.ts): what snag find --fleet --json writes, and more. Without an
// answer of the store there is nothing of the former but the standing.
type fleetState struct {
	*hosts.Document
	// Standing is "not seen" while the store does not answer: what is shown is of then.
	Standing hosts.Standing `json:"standing"`
	Now      time.Time      `json:"now"`
	Store    string         `json:"store"`
	Host     string         `json:"host,omitempty"` // this host, where it has a page of its own here
	// Failed is why the store does not answer.
	Failed   string            `json:"failed,omitempty"`
	Since    time.Time         `json:"failed_since,omitzero"`
	Timeline *hosts.Timeline   `json:"timeline,omitempty"`
	Old      string            `json:"timeline_failed,omitempty"`
	Links    map[string]string `json:"links"`
}

// state is what is known, and has the store asked if that is some seconds old. It waits for the answer, but not for
// long.
func (a *asked) state(ctx context.Context) fleetState {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-a.ask(ctx):
	case <-late.C:
	case <-ctx.Done():
	}
	return a.shown(time.Now())
}

// ask begins to ask, unless that is under way or was just done. What it returns is closed at the end.
func (a *asked) ask(ctx context.Context) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.under != nil {
		return a.under
	}
	done := make(chan struct{})
	if !a.ended.IsZero() && time.Since(a.ended) < askEvery {
		close(done)
		return done
	}
	a.began, a.under = time.Now(), done
	go func() {
		defer close(done)
		a.once(context.WithoutCancel(ctx)) // other readers want it too
		a.mu.Lock()
		defer a.mu.Unlock()
		a.ended, a.under = time.Now(), nil
	}()
	return done
}

// once asks for the hosts, then for their timeline if that is old.
func (a *asked) once(ctx context.Context) {
	now := time.Now()
	within, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	all, err := a.Read(within, now)
	if err != nil {
		a.fail(err, now)
		return
	}
	causes := all.Causes()
	d := all.Document(causes)
	a.mu.Lock()
	a.fleet, a.failed, a.since = &d, "", time.Time{}
	t := a.timeline
	a.mu.Unlock()
	more, end := context.WithTimeout(ctx, askTime)
	defer end()
	if t == nil || now.Sub(t.To) >= timelineEvery {
		t = a.history(more, all)
	}
	links := a.linked(more, all, causes, t)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timeline, a.links = t, links
}

func (a *asked) fail(err error, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == "" {
		a.since = now
	}
	if a.failed = err.Error(); errors.Is(err, context.DeadlineExceeded) {
		a.failed = "the store gave no answer within " + askTime.String()
	}
}

// history is the timeline, or the one before if the store does not answer.
func (a *asked) history(ctx context.Context, all *hosts.Fleet) *hosts.Timeline {
	t, err := all.ReadTimeline(ctx, a.Of, a.Chosen, span)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.old = ""; err != nil {
		a.old = err.Error()
		return a.timeline
	}
	return t
}

// linked are the pages of the hosts that are shown. Without their addresses there are no links, and all else is there.
func (a *asked) linked(ctx context.Context, all *hosts.Fleet, causes []hosts.Cause, t *hosts.Timeline) map[string]string {
	out := map[string]string{}
	if a.Links == nil {
		return out
	}
	these := all.Mentioned(causes, t)
	var at map[string]string
	if a.Links.NeedAddress() {
		at, _ = all.Reach(ctx, a.Of, these) // the hosts are shown without links
	}
	for _, h := range these {
		if to := a.Links.To(h.Name, at[h.Name]); to != "" {
			out[h.Name] = to
		}
	}
	return out
}

// shown is what is known now.
func (a *asked) shown(now time.Time) fleetState {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := fleetState{Document: a.fleet, Standing: hosts.NotSeen, Now: now.UTC(), Store: a.Store, Failed: a.failed, Since: a.since, Timeline: a.timeline, Old: a.old, Links: a.links}
	if s.Links == nil {
		s.Links = map[string]string{}
	}
	if s.Failed == "" && (a.fleet == nil || now.Sub(a.fleet.At) > stillNow) {
		s.Failed, s.Since = "the store was asked "+now.Sub(a.began).Round(time.Second).String()+" ago and has not answered yet", a.began
	}
	if s.Failed == "" {
		s.Standing = a.fleet.Standing
	}
	return s
}
