// Package hosts is what recorders of many hosts say (snag record --remote-write), read from a store: who is affected,
// the verdict that each host's recorder came to, and which asks which. Blame (blame.go) follows it from host to host.
package hosts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"snag/fleet/prom"
)

// Host is one of them.
type Host struct {
	Name string
	// Seen is when its recorder last sent something. Of one that is Gone nothing is known now.
	Seen time.Time
	Gone bool
	// Recording: its recorder records; it may be paused, as its disk is full.
	Recording bool
	// Chosen: it is one of those whose victims were asked for.
	Chosen bool
	Since  time.Time // its incident; zero: it has none
	// Ahead is how far its clock is ahead of the store's, and AheadError by how much that may be wrong; 0 and 0 where
	// that is not known.
	Ahead, AheadError time.Duration
	// Culprits of it, the first of the verdict first, and symptoms.
	Culprits, Symptoms []Named
	Services           []*Service
	Calls              []*Call

	addresses []netip.Addr
	// forwards are the servers behind addresses of services, as this host leads or balances them, those with most
	// connections first.
	forwards map[string][]forward
}

// forward is a server behind an address, with how many connections are led there.
type forward struct {
	to          string
	connections float64
}

// Named is a culprit or a symptom of a host's own verdict.
type Named struct {
	Name, Subject string
	// Beyond is the address of another host that a culprit's cause is at or behind; "" of one on its host.
	Beyond string
}

// Service is what a host's processes answer.
type Service struct {
	Process, Listener string
	Figures
}

// Call is what a host's processes ask of others.
type Call struct {
	Process, Server string
	Figures
}

// Figures are a second's on average: answers, the time of each, those that were errors, and requests that are open.
type Figures struct{ Rate, Mean, Failed, Open float64 }

// Fleet is all that is known.
type Fleet struct {
	At       time.Time
	Hosts    map[string]*Host
	Warnings []string // what the store could not say
}

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
)

// Read asks a store. chosen are matchers of the hosts whose victims are looked for, as role="edge"; "": of all.
func Read(ctx context.Context, q Querier, chosen string, at time.Time) (*Fleet, error) {
	f := &Fleet{At: at, Hosts: map[string]*Host{}}
	if err := f.all(ctx, q, `max by (instance) (max_over_time(timestamp(snag_record_up)[1h:15s]))`, func(h *Host, s prom.Sample) {
		h.Seen = time.UnixMilli(int64(1000 * s.Value))
		h.Gone = at.Sub(h.Seen) > quiet
	}, true); err != nil {
		return nil, err
	}
	if len(f.Hosts) == 0 {
		return nil, fmt.Errorf("no recorder has sent anything within %s before %s: start snag record --remote-write on the hosts", remembered, at.UTC().Format(time.RFC3339))
	}
	selector := "snag_record_up"
	if chosen != "" {
		selector += "{" + chosen + "}"
	}
	add := func(figure func(*Figures) *float64) func(*Host, prom.Sample) {
		return func(h *Host, s prom.Sample) { *figure(h.figures(s.Labels)) += s.Value }
	}
	for _, one := range []struct {
		ask  string
		take func(*Host, prom.Sample)
	}{
		{"max by (instance) (last_over_time(" + selector + "[1h]))", func(h *Host, _ prom.Sample) { h.Chosen = true }},
		{"snag_record_up", func(h *Host, s prom.Sample) { h.Recording = s.Value > 0 }},
		{"snag_incident_begin_timestamp_seconds", func(h *Host, s prom.Sample) { h.Since = time.Unix(int64(s.Value), 0) }},
		{"sort(snag_incident_culprit)", func(h *Host, s prom.Sample) {
			h.Culprits = append(h.Culprits, Named{s.Labels["suspect"], s.Labels["subject"], s.Labels["beyond"]})
		}},
		{"snag_incident_symptom", func(h *Host, s prom.Sample) {
			h.Symptoms = append(h.Symptoms, Named{Name: s.Labels["symptom"], Subject: s.Labels["subject"]})
		}},
		{"snag_host_address", func(h *Host, s prom.Sample) {
			if a, err := netip.ParseAddr(s.Labels["address"]); err == nil {
				h.addresses = append(h.addresses, a.Unmap())
			}
		}},
		{"snag_clock_ahead_seconds", func(h *Host, s prom.Sample) { h.Ahead = seconds(s.Value) }},
		{"snag_clock_ahead_error_seconds", func(h *Host, s prom.Sample) { h.AheadError = seconds(s.Value) }},
		{"snag_host_forward_connections", func(h *Host, s prom.Sample) {
			if h.forwards == nil {
				h.forwards = map[string][]forward{}
			}
			h.forwards[s.Labels["server"]] = append(h.forwards[s.Labels["server"]], forward{s.Labels["to"], s.Value})
		}},
		{`rate({__name__=~"snag_(service|dependency)_answers_total"}[` + over + `])`, add(func(x *Figures) *float64 { return &x.Rate })},
		{`rate({__name__=~"snag_(service|dependency)_answer_seconds_total"}[` + over + `])`, add(func(x *Figures) *float64 { return &x.Mean })},
		{`rate({__name__=~"snag_(service|dependency)_failed_answers_total"}[` + over + `])`, add(func(x *Figures) *float64 { return &x.Failed })},
		{`{__name__=~"snag_(service|dependency)_open_requests"}`, add(func(x *Figures) *float64 { return &x.Open })},
	} {
		if err := f.all(ctx, q, one.ask, one.take, false); err != nil {
			return nil, err
		}
	}
	for _, h := range f.Hosts {
		h.settle()
	}
	return f, nil
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }

// all hands each series to the host that it is of. make: a host that is not known yet is made.
func (f *Fleet) all(ctx context.Context, q Querier, expression string, take func(*Host, prom.Sample), makeHost bool) error {
	a, err := q.Query(ctx, expression, f.At)
	if err != nil {
		return err
	}
	for _, text := range a.Warnings {
		if !slices.Contains(f.Warnings, text) {
			f.Warnings = append(f.Warnings, text)
		}
	}
	for _, s := range a.Samples {
		name := s.Labels["instance"]
		h := f.Hosts[name]
		if h == nil && makeHost && name != "" {
			h = &Host{Name: name}
			f.Hosts[name] = h
		}
		if h != nil {
			take(h, s)
		}
	}
	return nil
}

// figures are those that a series is of. rate() leaves out its name, so that only its labels say which service it is
// of.
func (h *Host) figures(l map[string]string) *Figures {
	if at := l["listener"]; at != "" {
		for _, s := range h.Services {
			if s.Process == l["process"] && s.Listener == at {
				return &s.Figures
			}
		}
		s := &Service{Process: l["process"], Listener: at}
		h.Services = append(h.Services, s)
		return &s.Figures
	}
	for _, c := range h.Calls {
		if c.Process == l["process"] && c.Server == l["server"] {
			return &c.Figures
		}
	}
	c := &Call{Process: l["process"], Server: l["server"]}
	h.Calls = append(h.Calls, c)
	return &c.Figures
}

// settle makes means of sums, and orders what is of one host: those that hold most open first.
func (h *Host) settle() {
	for _, x := range h.each() {
		if x.Rate > 0 {
			x.Mean /= x.Rate
		}
	}
	busy := func(a, b Figures) int { return cmp.Compare(b.Rate*b.Mean+b.Open, a.Rate*a.Mean+a.Open) }
	slices.SortFunc(h.Services, func(a, b *Service) int { return busy(a.Figures, b.Figures) })
	slices.SortFunc(h.Calls, func(a, b *Call) int { return busy(a.Figures, b.Figures) })
	for _, to := range h.forwards {
		slices.SortFunc(to, func(a, b forward) int {
			return cmp.Or(cmp.Compare(b.connections, a.connections), cmp.Compare(a.to, b.to))
		})
	}
	slices.SortFunc(h.Symptoms, func(a, b Named) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Subject, b.Subject)) })
}

func (h *Host) each() (out []*Figures) {
	for _, s := range h.Services {
		out = append(out, &s.Figures)
	}
	for _, c := range h.Calls {
		out = append(out, &c.Figures)
	}
	return out
}

// Affected reports whether its recorder has an incident.
func (h *Host) Affected() bool { return !h.Since.IsZero() && !h.Gone }

// names are the hosts in order.
func (f *Fleet) names() []string { return slices.Sorted(maps.Keys(f.Hosts)) }
