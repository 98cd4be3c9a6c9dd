package hosts

import (
	"context"
	"slices"

	"snag/fleet/exporter"
)

// never reports whether no recorder on it ever sent something: node_exporter alone knows it.
func (h *Host) never() bool { return h.Seen.IsZero() && h.Exporter != nil }

// unrecorded reports whether node_exporter is all that may say something of it now.
func (h *Host) unrecorded() bool {
	return h.never() || h.Gone && h.Exporter != nil && h.Exporter.Scraped && len(h.Culprits) == 0
}

// exporters reads which hosts node_exporter is scraped on. Those whose recorder sends are left as they are: it sees
// more. It reports whether any other was asked for.
func (r *reader) exporters(ctx context.Context, chosen string) (found bool, err error) {
	all, err := exporter.Find(ctx, r.q, chosen, r.At)
	if err != nil || len(all.All) == 0 {
		return false, err
	}
	r.exported = all
	var listed []*expected
	var addresses []string
	for _, x := range all.All {
		listed = append(listed, &expected{x.Name, x.Names, x.Addresses})
		for _, a := range x.Addresses {
			addresses = append(addresses, a.String())
		}
	}
	if len(r.Hosts) > 0 {
		slices.Sort(addresses)
		if err := r.addresses(ctx, slices.Compact(addresses)); err != nil {
			return false, err
		}
	}
	known := r.known(listed)
	for i, x := range all.All {
		h := r.find(listed[i], known)
		found = found || x.Chosen
		switch {
		case h == nil:
			h = &Host{Name: x.Name, Gone: true, Exporter: x}
			r.Hosts[h.Name] = h
		case h.Gone || !h.Recording:
			h.Exporter = x
		}
		if h.Chosen = h.Chosen || x.Chosen; h.Exporter == nil {
			continue
		}
		for _, a := range x.Addresses {
			r.has(h, a)
		}
	}
	return found, nil
}

// signs reads the signs of hosts without a recorder: those that were asked for, and those that a way ends at.
func (r *reader) signs(ctx context.Context) error {
	if r.exported == nil {
		return nil
	}
	ends := endsOf(r.Causes())
	var these []*exporter.Host
	for _, name := range r.names() {
		if h := r.Hosts[name]; h.Exporter != nil && h.Exporter.Scraped && (h.Chosen || ends[name]) {
			these = append(these, h.Exporter)
		}
	}
	err := r.exported.Read(ctx, r.q, these)
	r.Unread = r.exported.Failed
	return err
}

// endsOf are the hosts without a recorder that ways end at.
func endsOf(causes []Cause) map[string]bool {
	out := map[string]bool{}
	for _, c := range causes {
		for _, v := range c.Victims {
			for _, s := range v.Way {
				if s.Unrecorded {
					out[s.To] = true
				}
			}
		}
	}
	return out
}

// unrecorded counts the hosts that were asked for and that only node_exporter shows.
func (f *Fleet) unrecorded() (n int) {
	for _, h := range f.Hosts {
		if h.Chosen && h.unrecorded() {
			n++
		}
	}
	return n
}

// neverRecorded counts those of them that never had a recorder.
func (f *Fleet) neverRecorded() (n int) {
	for _, h := range f.Hosts {
		if h.Chosen && h.never() {
			n++
		}
	}
	return n
}

// onlyExporters reports whether no host that was asked for ever had a recorder.
func (f *Fleet) onlyExporters() bool {
	all, _ := f.chosen()
	return all > 0 && f.neverRecorded() == all
}
