package discovery

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"snag/internal/sorting"
)

// changes passes on what differs from what was passed on before.
type changes struct {
	on    func(Update)
	last  []Target
	said  string // problems and the error
	begun bool
}

func (c *changes) take(l List, err error) {
	said := problems(l, err)
	if err != nil {
		if said != c.said {
			c.said = said
			c.on(Update{Err: err})
		}
		return
	}
	if c.begun && said == c.said && same(l.Targets, c.last) {
		return
	}
	c.last, c.said, c.begun = l.Targets, said, true
	c.on(Update{List: l})
}

func problems(l List, err error) string {
	if err := errors.Join(append(slices.Clone(l.Problems), err)...); err != nil {
		return err.Error()
	}
	return ""
}

func same(a, b []Target) bool {
	return slices.EqualFunc(a, b, func(x, y Target) bool { return x.Address == y.Address && maps.Equal(x.Labels, y.Labels) })
}

// poll asks again and again. between is the pause; after an error it is the same, so that a server that is back is
// seen soon.
func poll(ctx context.Context, between time.Duration, list func(context.Context) (List, error), on func(Update)) {
	c := changes{on: on}
	for ctx.Err() == nil {
		l, err := list(ctx)
		if ctx.Err() != nil {
			return
		}
		c.take(l, err)
		if wait(ctx, between) != nil {
			return
		}
	}
}

// wait ends early with ctx, and then returns why.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// sorted orders targets, so that lists can be compared.
func sorted(all []Target) []Target {
	sorting.By(all, func(a, b Target) int { return strings.Compare(a.key(), b.key()) })
	return all
}

func (t Target) key() string {
	var out strings.Builder
	out.WriteString(t.Address)
	for _, name := range slices.Sorted(maps.Keys(t.Labels)) {
		out.WriteString("\x00" + name + "\x00" + t.Labels[name])
	}
	return out.String()
}
