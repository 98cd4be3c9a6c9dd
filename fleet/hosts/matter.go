package hosts

import (
	"context"
	"slices"
	"time"
)

// mostMatter hosts are looked at closely: the verdict on more takes long, and adds victims only.
const mostMatter = 8

// Matter are the hosts whose recordings show how a cause reaches its victims: those with the causes and on the ways
// first, then more victims.
func (f *Fleet) Matter(causes []Cause) []*Host {
	var names []string
	add := func(name string) {
		if h := f.Hosts[name]; h != nil && !h.Gone && !slices.Contains(names, name) && len(names) < mostMatter {
			names = append(names, name)
		}
	}
	for _, c := range causes {
		add(c.Host)
		for _, v := range c.Victims[:min(1, len(c.Victims))] {
			add(v.Host)
			for _, s := range v.Way {
				add(s.From)
				add(s.To)
			}
		}
	}
	for _, c := range causes {
		for _, v := range c.Victims {
			add(v.Host)
		}
	}
	slices.Sort(names)
	var out []*Host
	for _, name := range names {
		out = append(out, f.Hosts[name])
	}
	return out
}

// Locate reads the addresses of hosts.
func (f *Fleet) Locate(ctx context.Context, q Querier, these []*Host) error {
	r := f.again(q)
	var names []string
	for _, h := range these {
		names = append(names, h.Name)
	}
	return r.chunks(names, func(names string) error {
		return r.all(ctx, "snag_host_address{instance=~"+names+"}", r.address, false)
	})
}

// Addresses under which others ask a host, as far as they were read. Those that another host has as well are left out:
// a container bridge's is the same on many hosts, and leads from here to this one.
func (f *Fleet) Addresses(h *Host) (out []string) {
	for a, names := range f.byAddress {
		if len(names) == 1 && names[0] == h.Name && a.Zone() == "" && !a.IsLoopback() {
			out = append(out, a.String())
		}
	}
	slices.Sort(out)
	return out
}

// ByItsClock is a time of the store as the host's clock has it, where they are known to differ.
func (h *Host) ByItsClock(t time.Time) time.Time { return t.Add(h.Ahead) }
