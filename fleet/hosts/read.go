package hosts

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"snag/fleet/exporter"
	"snag/fleet/prom"
	"snag/internal/sorting"
)

// Querier is a store.
type Querier interface {
	Query(ctx context.Context, expression string, at time.Time) (prom.Answer, error)
}

const (
	// quiet is how long ago a recorder has sent something at most: it does every 15 s.
	quiet = time.Minute
	// remembered is how long a host that is gone is still named.
	remembered = time.Hour
	over       = "1m" // rates
	// mostNames are in one query: a store has to look each of them up.
	mostNames = 1000
)

// reader asks a store, and keeps what it says in a fleet.
type reader struct {
	*Fleet
	q Querier
	// times are how far the store's clock is left behind by those that are far off, off by how much each host's is.
	times []time.Duration
	off   map[string]time.Duration
	// exported are the hosts that node_exporter is scraped on; nil: none.
	exported *exporter.Hosts
}

// Read asks a store. chosen are matchers of the hosts whose victims are looked for, as role="edge"; "": of all. Of a
// host that is not affected nothing is read but that it is there, unless one that is affected waits for it: what is
// read grows with the hosts that are affected.
func Read(ctx context.Context, q Querier, chosen string, at time.Time) (*Fleet, error) {
	r := reader{&Fleet{At: at, Hosts: map[string]*Host{}, byAddress: map[netip.Addr][]string{}}, q, []time.Duration{0}, map[string]time.Duration{}, nil}
	if err := r.clocks(ctx); err != nil {
		return nil, err
	}
	found, err := r.seen(ctx, chosen)
	if err != nil {
		return nil, err
	}
	if err := r.incidents(ctx); err != nil {
		return nil, err
	}
	unrecorded, err := r.exporters(ctx, chosen)
	if err != nil {
		return nil, err
	}
	if !found && !unrecorded {
		return nil, r.nobody(chosen)
	}
	if err := r.ways(ctx); err != nil {
		return nil, err
	}
	if err := r.failures(ctx); err != nil {
		return nil, err
	}
	if err := r.senders(ctx); err != nil {
		return nil, err
	}
	return r.Fleet, r.signs(ctx)
}

// nobody is the error where no host was asked for that the store knows.
func (r *reader) nobody(chosen string) error {
	at := r.At.UTC().Format(time.RFC3339)
	if len(r.Hosts) == 0 && chosen == "" {
		return fmt.Errorf("no recorder has sent anything within %s before %s, and no node_exporter was scraped: start snag record --remote-write on the hosts", remembered, at)
	}
	return fmt.Errorf("no recorder with the labels %s has sent anything within %s before %s, and no node_exporter with them was scraped; hosts without them: %d", chosen, remembered, at, len(r.Hosts))
}

// seen reads which hosts there are, which of them are chosen, and when each recorder last sent something. It reports
// whether any is chosen.
func (r *reader) seen(ctx context.Context, chosen string) (found bool, err error) {
	if err := r.all(ctx, "max by (instance) (timestamp(snag_record_up))", r.sent, true); err != nil {
		return false, err
	}
	selector := "snag_record_up"
	if chosen != "" {
		selector += "{" + chosen + "}"
	}
	if err := r.all(ctx, "max by (instance) (last_over_time("+selector+"[1h]))", func(h *Host, _ prom.Sample) {
		h.Chosen, found = true, true
		h.Gone = h.Gone || h.Seen.IsZero()
	}, true); err != nil {
		return false, err
	}
	// What is older than a store looks back (5 min) costs it a query of an hour, for these hosts alone.
	var old []string
	for _, name := range r.names() {
		if r.Hosts[name].Seen.IsZero() {
			old = append(old, name)
		}
	}
	return found, r.chunks(old, func(names string) error {
		return r.all(ctx, "max by (instance) (max_over_time(timestamp(snag_record_up{instance=~"+names+"})[1h:15s]))", r.sent, false)
	})
}

// sent notes when a recorder last sent something, which is the value.
func (r *reader) sent(h *Host, s prom.Sample) {
	h.Seen = time.UnixMilli(int64(1000 * s.Value)).Add(-h.Ahead)
	h.Gone = r.At.Sub(h.Seen) > quiet
}

// observer is the suspect that a recorder names where it was itself too late to prove a cause: nothing is proved of its
// host then.
const observer = "observer"

// incidents reads which recorders are paused, and the incident of each host that has one.
func (r *reader) incidents(ctx context.Context) error {
	place := map[*Host][]float64{}         // of each culprit in the verdict
	ups := map[*Host][]map[string]string{} // labels
	err := r.all(ctx, `{__name__=~"snag_record_up|snag_incident_begin_timestamp_seconds|snag_incident_culprit|snag_incident_symptom"} or `+sharedSeries, func(h *Host, s prom.Sample) {
		if s.Labels[sharedLabel] != "" {
			h.Shared = "several recorders have this name and the same labels"
			return
		}
		switch s.Labels["__name__"] {
		case "snag_record_up":
			h.Recording = s.Value > 0
			ups[h] = append(ups[h], s.Labels)
		case "snag_incident_begin_timestamp_seconds":
			h.Since = time.Unix(int64(s.Value), 0).Add(-h.Ahead)
		case "snag_incident_culprit":
			if s.Labels["suspect"] == observer {
				return
			}
			at, _ := slices.BinarySearch(place[h], s.Value)
			place[h] = slices.Insert(place[h], at, s.Value)
			h.Culprits = slices.Insert(h.Culprits, at, Named{s.Labels["suspect"], s.Labels["subject"], s.Labels["beyond"]})
		case "snag_incident_symptom":
			h.Symptoms = append(h.Symptoms, Named{Name: s.Labels["symptom"], Subject: s.Labels["subject"]})
		}
	}, false)
	for _, h := range r.Hosts {
		sorting.By(h.Symptoms, func(a, b Named) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Subject, b.Subject)) })
	}
	if err != nil {
		return err
	}
	return r.shared(ctx, ups)
}

// ways reads what the affected hosts wait for, then what the hosts at these addresses wait for, and so on.
func (r *reader) ways(ctx context.Context) error {
	been, asked := map[string]bool{}, map[string]bool{}
	var next []*Host
	for _, name := range r.names() {
		if h := r.Hosts[name]; h.Chosen && h.Affected() {
			next = append(next, h)
		}
	}
	for len(next) > 0 {
		for _, h := range next {
			been[h.Name] = true
		}
		if err := r.calls(ctx, next); err != nil {
			return err
		}
		servers := slices.DeleteFunc(waitedFor(next), func(server string) bool { return asked[server] })
		for _, server := range servers {
			asked[server] = true
		}
		if err := r.reach(ctx, servers); err != nil {
			return err
		}
		last := next
		next = nil
		for _, asking := range last {
			for _, h := range r.waitedForBy(asking) {
				if !been[h.Name] && !h.unrecorded() {
					been[h.Name] = true
					next = append(next, h)
				}
			}
		}
	}
	return nil
}

// waitedFor are the servers that hosts wait for, those with an address.
func waitedFor(all []*Host) (servers []string) {
	for _, h := range all {
		servers = append(servers, h.losesTo()...)
		for _, step := range h.waitsFor() {
			if _, ok := addressOf(step.Server); ok {
				servers = append(servers, step.Server)
			}
		}
	}
	slices.Sort(servers)
	return slices.Compact(servers)
}

// waitedForBy are the hosts that may answer at the servers which a host waits for.
func (r *reader) waitedForBy(asking *Host) (out []*Host) {
	for _, step := range asking.waitsFor() {
		for _, p := range r.places(asking, step.Server) {
			out = append(out, p.host)
		}
	}
	return out
}

// reach reads which hosts have the addresses of servers, and which servers are behind these.
func (r *reader) reach(ctx context.Context, servers []string) error {
	var behind []string
	for some := range slices.Chunk(servers, mostNames) {
		ask := "snag_host_forward_connections{server=~" + oneOf(some) + "} or " + haveOneOf(addressesOf(some))
		if err := r.all(ctx, ask, func(h *Host, s prom.Sample) {
			if to := s.Labels["to"]; to != "" {
				behind = append(behind, to)
				h.forward(s.Labels["server"], forward{to, s.Value})
				return
			}
			r.address(h, s)
		}, false); err != nil {
			return err
		}
	}
	return r.addresses(ctx, addressesOf(behind))
}

// addresses reads which hosts have these addresses.
func (r *reader) addresses(ctx context.Context, these []string) error {
	for some := range slices.Chunk(these, mostNames) {
		if err := r.all(ctx, haveOneOf(some), r.address, false); err != nil {
			return err
		}
	}
	return nil
}

// addressesOf are the addresses of servers, each once.
func addressesOf(servers []string) (out []string) {
	for _, server := range servers {
		if a, ok := addressOf(server); ok {
			out = append(out, a.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func haveOneOf(addresses []string) string {
	return "snag_host_address{address=~" + oneOf(addresses) + "}"
}

// address notes that a host has an address.
func (r *reader) address(h *Host, s prom.Sample) {
	if a, err := netip.ParseAddr(s.Labels["address"]); err == nil {
		r.has(h, a.Unmap())
	}
}

// forward notes a server behind an address, those with most connections first.
func (h *Host) forward(server string, to forward) {
	if h.forwards == nil {
		h.forwards = map[string][]forward{}
	}
	all := append(h.forwards[server], to)
	sorting.By(all, func(a, b forward) int {
		return cmp.Or(cmp.Compare(b.connections, a.connections), cmp.Compare(a.to, b.to))
	})
	h.forwards[server] = all
}

// chunks hands out names as regular expressions of PromQL, a thousand at a time.
func (r *reader) chunks(names []string, ask func(these string) error) error {
	for some := range slices.Chunk(names, mostNames) {
		if err := ask(oneOf(some)); err != nil {
			return err
		}
	}
	return nil
}

// oneOf is a regular expression as a string of PromQL.
func oneOf(names []string) string {
	quoted := make([]string, 0, len(names))
	for _, name := range names {
		quoted = append(quoted, regexp.QuoteMeta(name))
	}
	return strconv.Quote(strings.Join(quoted, "|"))
}

// all hands each series to the host that it is of, as it is at the time that the host's clock shows. makeHost: a host
// that is not known yet is made.
func (r *reader) all(ctx context.Context, expression string, take func(*Host, prom.Sample), makeHost bool) error {
	for _, by := range r.times {
		a, err := r.q.Query(ctx, expression, r.At.Add(by))
		if err != nil {
			return err
		}
		for _, text := range a.Warnings {
			if !slices.Contains(r.Warnings, text) {
				r.Warnings = append(r.Warnings, text)
			}
		}
		for _, s := range a.Samples {
			name := s.Labels["instance"]
			h := r.Hosts[name]
			if h == nil && makeHost && name != "" && r.off[name] == by {
				h = &Host{Name: name, Ahead: by}
				r.Hosts[name] = h
			}
			if h != nil && h.Ahead == by {
				take(h, s)
			}
		}
	}
	return nil
}
