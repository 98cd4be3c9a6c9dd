package hosts

import (
	"cmp"
	"slices"
	"time"

	"snag/fleet/prom"
	"snag/internal/sorting"
)

// pasts puts the series of a span of time together. A point of a series is of the step that ends at its time.
type pasts struct {
	fleet    *Fleet
	from, to time.Time
	step     time.Duration
	seen     [steps]int
	all      []*past
	at       map[string]*[steps]*past // the incident of a host in each step
	warnings []string
}

// past is one incident of a host.
type past struct {
	host     string
	begin    int64 // s since the epoch, by the host's clock
	last     int   // the last step in which it was sent
	culprits []culprit
}

// culprit is one that was the first of the verdict in so many steps.
type culprit struct {
	suspect, subject string
	steps, last      int
}

// stepOf is which step a point is of; false: none.
func (p *pasts) stepOf(x prom.Point) (int, bool) {
	n := int((x.At - p.from.UnixMilli()) / p.step.Milliseconds())
	return n, x.At >= p.from.UnixMilli() && n < steps
}

func (p *pasts) takeSeen(all []prom.Series) {
	for _, s := range all {
		for _, x := range s.Points {
			if n, ok := p.stepOf(x); ok {
				p.seen[n] = int(x.Value)
			}
		}
	}
}

// takeBegins makes the incidents: the value of a point is when its incident began.
func (p *pasts) takeBegins(all []prom.Series) {
	p.at = map[string]*[steps]*past{}
	for _, s := range all {
		host := s.Labels["instance"]
		at := &[steps]*past{}
		p.at[host] = at
		var now *past
		for _, x := range s.Points {
			n, ok := p.stepOf(x)
			if !ok || host == "" {
				continue
			}
			if begin := int64(x.Value); now == nil || now.begin != begin {
				now = &past{host: host, begin: begin}
				p.all = append(p.all, now)
			}
			now.last, at[n] = n, now
		}
	}
}

func (p *pasts) takeCulprits(all []prom.Series) {
	for _, s := range all {
		at := p.at[s.Labels["instance"]]
		for _, x := range s.Points {
			if n, ok := p.stepOf(x); ok && at != nil && at[n] != nil {
				at[n].accuse(s.Labels["suspect"], s.Labels["subject"], n)
			}
		}
	}
}

func (i *past) accuse(suspect, subject string, step int) {
	at := slices.IndexFunc(i.culprits, func(c culprit) bool { return c.suspect == suspect && c.subject == subject })
	if at < 0 {
		at = len(i.culprits)
		i.culprits = append(i.culprits, culprit{suspect: suspect, subject: subject})
	}
	i.culprits[at].steps++
	i.culprits[at].last = step
}

// culprit is the one that was named for longest; of several the last.
func (i *past) culprit() culprit {
	if len(i.culprits) == 0 {
		return culprit{}
	}
	return slices.MaxFunc(i.culprits, func(a, b culprit) int { return cmp.Or(cmp.Compare(a.steps, b.steps), cmp.Compare(a.last, b.last)) })
}

// span is when an incident was, by the store's clock. It goes on if that is what its host has now.
func (p *pasts) span(i *past) Past {
	h := p.fleet.Hosts[i.host]
	ahead := time.Duration(0)
	if h != nil {
		ahead = h.Ahead
	}
	out := Past{Start: time.Unix(i.begin, 0).Add(-ahead).UTC(), Began: i.begin}
	if h != nil && h.Affected() && h.Since.Sub(out.Start).Abs() <= time.Second {
		return out
	}
	end := p.from.Add(time.Duration(i.last) * p.step).Add(-ahead)
	if end.After(p.fleet.At) {
		end = p.fleet.At
	}
	if end.Before(out.Start) {
		end = out.Start
	}
	out.End = end.UTC()
	return out
}

func (p *pasts) timeline() *Timeline {
	t := &Timeline{From: p.from.UTC(), To: p.fleet.At.UTC(), Step: p.step.Seconds(), Seen: p.seen[:], Affected: make([]int, steps), Rows: []Row{}, Warnings: append([]string{}, p.warnings...)}
	for _, at := range p.at {
		for n, i := range at {
			if i != nil {
				t.Affected[n]++
			}
		}
	}
	t.Rows = p.rows()
	if n := len(t.Rows); n > mostRows {
		t.Rows, t.Left = t.Rows[:mostRows], n-mostRows
	}
	return t
}

// rows are the incidents by host and suspect.
func (p *pasts) rows() []Row {
	sorting.StableBy(p.all, func(a, b *past) int { return cmp.Compare(b.begin, a.begin) }) // newest first
	type key struct{ host, suspect string }
	at := map[key]int{}
	out := []Row{}
	for _, i := range p.all {
		c := i.culprit()
		n, known := at[key{i.host, c.suspect}]
		if !known {
			n = len(out)
			at[key{i.host, c.suspect}] = n
			out = append(out, Row{Host: i.host, Suspect: c.suspect, Subject: c.subject})
		}
		if len(out[n].Incidents) == mostPast {
			out[n].Left++
			continue
		}
		out[n].Incidents = append(out[n].Incidents, p.span(i))
	}
	sorting.By(out, func(a, b Row) int {
		return cmp.Or(b.last().Compare(a.last()), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Suspect, b.Suspect))
	})
	return out
}

// last is when the last incident of a row ended; far in the future of one that goes on.
func (r *Row) last() time.Time {
	if r.Incidents[0].End.IsZero() {
		return time.Unix(1<<40, 0)
	}
	return r.Incidents[0].End
}
