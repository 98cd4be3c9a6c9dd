package hosts

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"
)

// Mentioned are the hosts that causes, ways and a timeline name, and those that are not seen: whoever reads of them may
// want to go there. t may be nil.
func (f *Fleet) Mentioned(causes []Cause, t *Timeline) (out []*Host) {
	names := map[string]bool{}
	for _, c := range causes {
		names[c.Host] = true
		for _, v := range c.Victims {
			names[v.Host] = true
			for _, s := range v.Way {
				names[s.To] = true
			}
		}
	}
	for _, h := range f.Hosts {
		if h.Chosen && (h.Gone || !h.Recording) {
			names[h.Name] = true
		}
	}
	if t != nil {
		for _, r := range t.Rows {
			names[r.Host] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if h := f.Hosts[name]; h != nil {
			out = append(out, h)
		}
	}
	return out
}

// Reach reads under which address each of these hosts most likely answers: one that no other of them has, as bridges of
// containers are the same on many; of several the first of IPv4. A host of which no address is known is left out.
func (f *Fleet) Reach(ctx context.Context, q Querier, these []*Host) (map[string]string, error) {
	out := map[string]string{}
	if len(these) == 0 {
		return out, nil
	}
	if err := f.Locate(ctx, q, these); err != nil {
		return nil, err
	}
	all := slices.SortedFunc(maps.Keys(f.byAddress), func(a, b netip.Addr) int {
		return cmp.Or(cmp.Compare(len(f.byAddress[a]), len(f.byAddress[b])), a.Compare(b)) // IPv4 comes first
	})
	for _, a := range all {
		for _, name := range f.byAddress[a] {
			if out[name] == "" {
				out[name] = a.String()
			}
		}
	}
	return out, nil
}
