package hosts

import (
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

// Addresses under which others ask the host.
func (h *Host) Addresses() (out []string) {
	for _, a := range h.addresses {
		out = append(out, a.String())
	}
	return out
}

// ByItsClock is a time of the store as the host's clock has it, if it is known how they compare.
func (h *Host) ByItsClock(t time.Time) time.Time { return t.Add(h.Ahead) }
