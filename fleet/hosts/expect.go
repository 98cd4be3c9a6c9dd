package hosts

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"snag/fleet/discovery"
	"snag/internal/sorting"
)

// Missing is a host that discovery lists, and of which no recorder is known.
type Missing struct {
	// Name as discovery has it: of a node, an instance, or the address.
	Name string
	Why  string
}

// addressLabels have an address of that host.
var addressLabels = []string{"__meta_kubernetes_pod_host_ip", "__meta_consul_address", "__meta_kubernetes_node_address_InternalIP", "__meta_kubernetes_node_address_ExternalIP"}

// expected is a host that is listed: by names and addresses, of which one is enough.
type expected struct {
	name      string
	names     []string
	addresses []netip.Addr
}

// expectedOf puts the targets together that are on one host.
func expectedOf(targets []discovery.Target) (all []*expected) {
	by := map[string]*expected{}
	for _, t := range targets {
		host, _ := t.Host()
		name := t.HostName()
		e := by[strings.ToLower(name)]
		if e == nil {
			e = &expected{name: name}
			by[strings.ToLower(name)] = e
			all = append(all, e)
		}
		texts := []string{name, host}
		for _, label := range addressLabels {
			texts = append(texts, t.Labels[label])
		}
		e.take(texts)
	}
	return all
}

// take notes names and addresses of the host.
func (e *expected) take(texts []string) {
	for _, text := range texts {
		text = strings.ToLower(strings.TrimSuffix(text, "."))
		switch a, err := netip.ParseAddr(text); {
		case text == "":
		case err != nil:
			if !slices.Contains(e.names, text) {
				e.names = append(e.names, text)
			}
		case !a.IsLoopback() && !slices.Contains(e.addresses, a.Unmap()):
			e.addresses = append(e.addresses, a.Unmap())
		}
	}
}

// Expect compares the hosts that sent something with those that discovery lists: those that are missing are not seen.
// source names what lists them.
func (f *Fleet) Expect(ctx context.Context, q Querier, source string, l discovery.List) error {
	all := expectedOf(l.Targets)
	f.Source, f.Listed = source, len(all)
	for _, err := range l.Problems {
		f.Unlisted = append(f.Unlisted, err.Error())
	}
	var addresses []string
	for _, e := range all {
		for _, a := range e.addresses {
			addresses = append(addresses, a.String())
		}
	}
	slices.Sort(addresses)
	r := f.again(q)
	if err := r.addresses(ctx, slices.Compact(addresses)); err != nil {
		return err
	}
	known := f.known(all)
	for _, e := range all {
		switch found := f.find(e, known); {
		case found == nil:
			f.Missing = append(f.Missing, Missing{e.name, "no recorder on it sends to this store"})
		case found.never():
			f.Missing = append(f.Missing, Missing{e.name, "no recorder on it sends to this store, only node_exporter is on it"})
		case found.Gone && !found.Chosen:
			f.Missing = append(f.Missing, Missing{e.name, "its recorder has sent nothing since " + clock(found.Seen)})
		}
	}
	sorting.By(f.Missing, func(a, b Missing) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// known are the hosts by their names and, where that means one host only, by the first part of their names.
func (f *Fleet) known(all []*expected) map[string]*Host {
	wanted := map[string]int{} // listed names that begin so
	for _, e := range all {
		for _, name := range e.names {
			if short, _, long := strings.Cut(name, "."); long {
				wanted[short]++
			}
		}
	}
	out, twice := map[string]*Host{}, map[string]bool{}
	for _, name := range f.names() {
		if short, _, long := strings.Cut(strings.ToLower(name), "."); long {
			twice[short] = out[short] != nil
			out[short] = f.Hosts[name]
		}
	}
	for short := range out {
		if twice[short] {
			delete(out, short)
		}
	}
	for _, name := range f.names() {
		out[strings.ToLower(name)] = f.Hosts[name]
	}
	for short, n := range wanted {
		if h := out[short]; n == 1 && h != nil { // a short name that several are listed with is nobody's
			out["."+short] = h
		}
	}
	return out
}

// find is the host that is expected; nil: none that is known.
func (f *Fleet) find(e *expected, known map[string]*Host) *Host {
	for _, name := range e.names {
		if h := known[name]; h != nil {
			return h
		}
		short, _, long := strings.Cut(name, ".")
		if h := known["."+short]; long && h != nil && !strings.Contains(h.Name, ".") {
			return h
		}
	}
	for _, a := range e.addresses {
		if of := f.byAddress[a]; len(of) > 0 {
			return f.Hosts[of[0]]
		}
	}
	return nil
}

// mostMissing are named in the first lines; the rest is counted.
const mostMissing = 20

// missing are lines that name the hosts that are listed and not seen.
func (f *Fleet) missing() (out []string) {
	for _, text := range f.Unlisted {
		out = append(out, f.Source+": "+text)
	}
	for i, m := range f.Missing {
		if i == mostMissing {
			return append(out, fmt.Sprintf("and %d more hosts that %s lists", len(f.Missing)-i, f.Source))
		}
		out = append(out, fmt.Sprintf("%s: %s lists it, and %s", m.Name, f.Source, m.Why))
	}
	return out
}
