package hosts

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"snag/fleet/prom"
	"snag/internal/sorting"
)

// calls reads of hosts the calls that matter to what they wait for: to the server that their own verdict names or,
// without a verdict, those that take most of their answers' time, alone or together. A host with a cause of its own
// waits for nobody.
func (r *reader) calls(ctx context.Context, of []*Host) error {
	var unproved, all []string
	wanted := map[string][]string{} // servers by host
	for _, h := range of {
		at, away := h.named()
		switch {
		case len(h.Culprits) == 0:
			unproved = append(unproved, h.Name)
		case away:
			wanted[h.Name] = []string{at}
		default:
			continue
		}
		all = append(all, h.Name)
	}
	if err := r.chunks(unproved, func(names string) error {
		return r.all(ctx, most(names), func(h *Host, s prom.Sample) {
			h.call(s.Labels).Share = s.Value
		}, false)
	}); err != nil {
		return err
	}
	for _, name := range unproved {
		h, sum := r.Hosts[name], 0.0
		for _, c := range h.Calls {
			sum += c.Share
			wanted[name] = append(wanted[name], c.Server)
		}
		if sum < mostOfTime { // most of the time goes elsewhere
			h.Calls, wanted[name] = nil, nil
		}
	}
	all = slices.DeleteFunc(all, func(name string) bool { return len(wanted[name]) == 0 })
	for some := range slices.Chunk(all, mostNames) {
		if err := r.figures(ctx, some, wanted); err != nil {
			return err
		}
	}
	for _, h := range of {
		h.settle()
	}
	return nil
}

// leastShare is the share of its answers' time from which on calls matter beside others.
const leastShare = 0.05

// most is the query for the share of all answers' time of a host that its calls to each server take.
func most(names string) string {
	return fmt.Sprintf("sum by (instance, process, server) (rate(snag_dependency_answer_seconds_total{instance=~%s}[%s])) / on (instance) group_left () (sum by (instance) (rate(snag_service_answer_seconds_total{instance=~%s}[%s])) > 0) >= %g",
		names, over, names, over, leastShare)
}

// figures reads the calls of hosts to the servers that are wanted of them.
func (r *reader) figures(ctx context.Context, names []string, wanted map[string][]string) error {
	var servers []string
	for _, name := range names {
		servers = append(servers, wanted[name]...)
	}
	slices.Sort(servers)
	selector := "{instance=~" + oneOf(names) + ",server=~" + oneOf(slices.Compact(servers)) + "}"
	for _, one := range []struct {
		ask    string
		figure func(*Figures) *float64
	}{
		{"rate(snag_dependency_answers_total" + selector + "[" + over + "])", func(x *Figures) *float64 { return &x.Rate }},
		{"rate(snag_dependency_answer_seconds_total" + selector + "[" + over + "])", func(x *Figures) *float64 { return &x.Mean }},
		{"snag_dependency_open_requests" + selector, func(x *Figures) *float64 { return &x.Open }},
	} {
		if err := r.all(ctx, "sum by (instance, process, server) ("+one.ask+")", func(h *Host, s prom.Sample) {
			if slices.Contains(wanted[h.Name], s.Labels["server"]) {
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
	sorting.By(h.Calls, func(a, b *Call) int {
		return cmp.Or(cmp.Compare(busy(b.Figures), busy(a.Figures)), cmp.Compare(a.Server, b.Server))
	})
}
