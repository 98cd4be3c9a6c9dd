package exporter

import (
	"cmp"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"snag/internal/sorting"
)

// key tells hosts apart. instance alone is not enough: agents that write to one store may all scrape localhost:9100,
// and clusters may have the same private addresses.
type key struct{ instance, cluster, node, host, hostname string }

// labels are those of key, as PromQL lists them. Replicas of one Prometheus differ in others, and are one host.
const labels = "instance, cluster, node, host, hostname"

func keyOf(l map[string]string) key {
	return key{l["instance"], l["cluster"], l["node"], l["host"], l["hostname"]}
}

// ofContainer is a host name that Docker gave: it names no host.
var ofContainer = regexp.MustCompile(`^[0-9a-f]{12}$`)

// named gives a host its names: those that people gave by relabelling come first, then the kernel's (nodename of
// node_uname_info), which a recorder calls its host by too, then instance without its port.
func (h *Host) named() {
	nodename := h.nodename
	if ofContainer.MatchString(nodename) {
		nodename = ""
	}
	at := hostOf(h.instance)
	h.Name = cmp.Or(h.host, h.node, h.hostname, nodename, at)
	for _, name := range []string{h.host, h.node, h.hostname, nodename, at} {
		h.call(name)
	}
}

// call notes a name or an address of a host.
func (h *Host) call(name string) {
	if a, err := netip.ParseAddr(name); err == nil {
		h.has(a)
	} else if name = strings.ToLower(name); name != "" && name != "localhost" && !slices.Contains(h.Names, name) {
		h.Names = append(h.Names, name)
	}
}

// has notes an address of a host. Those that each host has are nobody's.
func (h *Host) has(a netip.Addr) {
	if a = a.Unmap(); !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsUnspecified() && !slices.Contains(h.Addresses, a) {
		h.Addresses = append(h.Addresses, a)
	}
}

// hostOf is an instance without its port.
func hostOf(instance string) string {
	if host, _, err := net.SplitHostPort(instance); err == nil {
		return host
	}
	return instance
}

// distinct makes one host of those that are the same machine: with one nodename and one time at which it booted, as two
// jobs scrape it; or with one name of which at most one is scraped now, as its address or its labels have changed. Of
// others with one name it makes the names differ.
func (hs *Hosts) distinct() {
	hs.machines()
	by, of := map[string][]*Host{}, map[string]int{}
	for _, h := range hs.All {
		by[h.Name] = append(by[h.Name], h)
	}
	hs.All = nil
	for name, same := range by {
		if live := slices.DeleteFunc(slices.Clone(same), func(h *Host) bool { return !h.Scraped }); len(live) > 0 {
			same = live
		} else {
			same = same[:1]
		}
		for _, h := range same {
			if len(same) > 1 {
				h.Name = name + " (" + strings.Trim(h.instance+" "+h.cluster, " ") + ")"
			}
			hs.All = append(hs.All, h)
			for _, n := range h.Names {
				of[n]++
			}
		}
	}
	for _, h := range hs.All { // a name that several have is nobody's, unless it is what one is called
		h.Names = slices.DeleteFunc(h.Names, func(n string) bool { return of[n] > 1 && n != strings.ToLower(h.Name) })
	}
	sorting.By(hs.All, func(a, b *Host) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.instance, b.instance)) })
}

// machines keeps one host of each machine that is scraped: one that people gave a name, if there is one.
func (hs *Hosts) machines() {
	named := func(h *Host) int { return min(1, len(h.host+h.node+h.hostname)) }
	sorting.By(hs.All, func(a, b *Host) int {
		return cmp.Or(cmp.Compare(named(b), named(a)), cmp.Compare(a.instance, b.instance), cmp.Compare(a.cluster, b.cluster))
	})
	type machine struct {
		nodename string
		boot     int64
	}
	by := map[machine]*Host{}
	hs.All = slices.DeleteFunc(hs.All, func(h *Host) bool {
		m := machine{h.nodename, int64(h.boot)}
		first := by[m]
		if !h.Scraped || h.nodename == "" || h.boot == 0 || first == nil {
			by[m] = h
			return false
		}
		first.Chosen = first.Chosen || h.Chosen
		for _, name := range h.Names {
			first.call(name)
		}
		for _, a := range h.Addresses {
			first.has(a)
		}
		return true
	})
}
