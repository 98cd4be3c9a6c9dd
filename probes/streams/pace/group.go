package pace

import (
	"context"
	"slices"
	"sync"
	"time"
)

// mostMembers are called by one goroutine: so many share a wake-up, and what is more is
// read on other CPUs at the same time.
const mostMembers = 256

// Do is one turn; next is when the next one is due, monotonic ns.
type Do func(next int64) error

// Each calls do at each multiple of every on the monotonic clock, on a goroutine that
// others share, until it gives an error, which Each returns, or ctx ends: then it returns
// nil. do must not block, and is not called once Each has returned.
func Each(ctx context.Context, every time.Duration, do Do) error {
	m := &member{do: do, failed: make(chan error, 1)}
	g, err := join(every)
	if err != nil {
		return err
	}
	defer g.leave(m)
	g.add(m)
	select {
	case err := <-m.failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

type member struct {
	do     Do
	failed chan error // has room for the one
}

// group is those of one pace whom one goroutine calls.
type group struct {
	ticker *ticker
	taken  int // places, under groups' lock

	mu      sync.Mutex
	members []*member
}

// groups are all that have members.
var groups struct {
	sync.Mutex
	all []*group
}

// join takes a place in a group of that pace, which leave gives back.
func join(every time.Duration) (*group, error) {
	groups.Lock()
	defer groups.Unlock()
	for _, g := range groups.all {
		if g.ticker.period == every && g.taken < mostMembers {
			g.taken++
			return g, nil
		}
	}
	t, err := newTicker(every)
	if err != nil {
		return nil, err
	}
	g := &group{ticker: t, taken: 1}
	groups.all = append(groups.all, g)
	go g.run()
	return g, nil
}

func (g *group) leave(m *member) {
	g.mu.Lock()
	g.members = slices.DeleteFunc(g.members, func(o *member) bool { return o == m })
	g.mu.Unlock()
	groups.Lock()
	defer groups.Unlock()
	if g.taken--; g.taken == 0 {
		groups.all = slices.DeleteFunc(groups.all, func(o *group) bool { return o == g })
		g.ticker.close()
	}
}

func (g *group) add(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = append(g.members, m)
}

func (g *group) run() {
	for g.ticker.wait() {
		g.turn(g.ticker.next)
	}
}

// turn calls each member. One that failed is not called again.
func (g *group) turn(next int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	left := 0
	for _, m := range g.members {
		if err := m.do(next); err != nil {
			m.failed <- err
			continue
		}
		g.members[left] = m
		left++
	}
	clear(g.members[left:])
	g.members = g.members[:left]
}
