package hosts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"snag/fleet/prom"
)

// calls reads of hosts the calls that matter to what they wait for: to the server that their own verdict names or,
// without a verdict, those that take most of their answers' time. A host with a cause of its own waits for nobody.
func (r *reader) calls(ctx context.Context, of []*Host) error {
	var unproved, all []string
	servers := map[string]bool{}
	for _, h := range of {
		at, away := h.named()
		switch {
		case len(h.Culprits) == 0:
			unproved = append(unproved, h.Name)
		case away:
			servers[at] = true
		default:
			continue
		}
		all = append(all, h.Name)
	}
	err := r.chunks(unproved, func(names string) error {
		return r.all(ctx, most(names), func(h *Host, s prom.Sample) {
			h.call(s.Labels).Most = true
			servers[s.Labels["server"]] = true
		}, false)
	})
	if err != nil || len(servers) == 0 {
		return err
	}
	if err := r.chunks(all, func(names string) error { return r.figures(ctx, names, servers) }); err != nil {
		return err
	}
	for _, h := range of {
		h.settle()
	}
	return nil
}

// most is the query for the calls that take so much of all answers' time of a host that it waits for them.
func most(names string) string {
	return fmt.Sprintf("sum by (instance, process, server) (rate(snag_dependency_answer_seconds_total{instance=~%s}[%s])) >= on (instance) group_left () (%g * sum by (instance) (rate(snag_service_answer_seconds_total{instance=~%s}[%s])) > 0)",
		names, over, mostOfTime, names, over)
}

// figures reads the calls of hosts to servers. Where there are more servers than one query has room for, all calls of
// the hosts are read, and those to other servers are left out here.
func (r *reader) figures(ctx context.Context, names string, servers map[string]bool) error {
	selector := "{instance=~" + names + "}"
	if len(servers) <= mostNames {
		selector = "{instance=~" + names + ",server=~" + oneOf(slices.Sorted(maps.Keys(servers))) + "}"
	}
	for _, one := range []struct {
		ask    string
		figure func(*Figures) *float64
	}{
		{"rate(snag_dependency_answers_total" + selector + "[" + over + "])", func(x *Figures) *float64 { return &x.Rate }},
		{"rate(snag_dependency_answer_seconds_total" + selector + "[" + over + "])", func(x *Figures) *float64 { return &x.Mean }},
		{"snag_dependency_open_requests" + selector, func(x *Figures) *float64 { return &x.Open }},
	} {
		if err := r.all(ctx, "sum by (instance, process, server) ("+one.ask+")", func(h *Host, s prom.Sample) {
			if servers[s.Labels["server"]] {
				*one.figure(&h.call(s.Labels).Figures) += s.Value
			}
		}, false); err != nil {
			return err
		}
	}
	return nil
}

// call is the one that a series is of.
func (h *Host) call(l map[string]string) *Call {
	for _, c := range h.Calls {
		if c.Process == l["process"] && c.Server == l["server"] {
			return c
		}
	}
	c := &Call{Process: l["process"], Server: l["server"]}
	h.Calls = append(h.Calls, c)
	return c
}

// settle makes means of sums, and puts the calls first that hold most open.
func (h *Host) settle() {
	for _, c := range h.Calls {
		if c.Rate > 0 {
			c.Mean /= c.Rate
		}
	}
	busy := func(f Figures) float64 { return f.Rate*f.Mean + f.Open }
	slices.SortFunc(h.Calls, func(a, b *Call) int {
		return cmp.Or(cmp.Compare(busy(b.Figures), busy(a.Figures)), cmp.Compare(a.Server, b.Server))
	})
}
