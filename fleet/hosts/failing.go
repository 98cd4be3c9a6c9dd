package hosts

import (
	"cmp"
	"context"
	"slices"

	"snag/fleet/prom"
	"snag/internal/sorting"
)

// fails is the suspect of a host whose own service answers with errors. Its recorder does not see whether it passes
// them on: only who sends an answer knows that it is an error.
const fails = "error-answers"

// passesOn reports whether a host's errors may be another's.
func (h *Host) passesOn() bool {
	_, away := h.named()
	return len(h.Culprits) > 0 && h.Culprits[0].Name == fails && !away
}

// failures reads, of hosts that answer with errors, how many errors the services answer with that they ask.
func (r *reader) failures(ctx context.Context) error {
	var names []string
	for _, name := range r.names() {
		if h := r.Hosts[name]; h.Affected() && h.passesOn() {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	errors := map[string]float64{} // per second, by host
	if err := r.all(ctx, "sum by (instance) (rate(snag_service_failed_answers_total["+over+"])) > 0", func(h *Host, s prom.Sample) {
		errors[h.Name] += s.Value
	}, false); err != nil {
		return err
	}
	asks := map[string]map[string]float64{} // answers per second, by host and server
	var servers []string
	if err := r.chunks(names, func(names string) error {
		return r.all(ctx, "sum by (instance, server) (rate(snag_dependency_answers_total{instance=~"+names+"}["+over+"])) > 0", func(h *Host, s prom.Sample) {
			if asks[h.Name] == nil {
				asks[h.Name] = map[string]float64{}
			}
			asks[h.Name][s.Labels["server"]] += s.Value
			servers = append(servers, s.Labels["server"])
		}, false)
	}); err != nil {
		return err
	}
	slices.Sort(servers)
	if err := r.reach(ctx, slices.Compact(servers)); err != nil {
		return err
	}
	for _, name := range names {
		r.Hosts[name].failing = r.failingOf(r.Hosts[name], asks[name], errors)
	}
	return nil
}

// failingOf are the steps to the hosts that answer a host with errors, each with the share of its own errors that
// can be theirs; nil where they explain less than half of these.
func (r *reader) failingOf(h *Host, asks, errors map[string]float64) (steps []Step) {
	sum := 0.0
	for server, rate := range asks {
		for _, p := range r.places(h, server) {
			if n := errors[p.host.Name]; n > 0 && p.host != h && errors[h.Name] > 0 {
				share := min(n, rate) / errors[h.Name]
				sum += share
				steps = append(steps, Step{From: h.Name, Server: server, Why: fails, share: share})
				break
			}
		}
	}
	if sum < mostOfTime {
		return nil
	}
	sorting.By(steps, func(a, b Step) int { return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.Server, b.Server)) })
	return steps
}
