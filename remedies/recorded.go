package remedies

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"snag/recording"
	"snag/remedies/plan"
)

// errUnread is of a setting that a recording does not tell.
var errUnread = errors.New("the recording does not show what it is set to")

// Recorded is the host as a recording tells of it: for a plan that is made elsewhere, or
// later. What it does not tell is no change, but advice.
func Recorded(r *recording.Recording) Here {
	return Here{
		Netns:   func(id uint64) (string, bool) { return recordedNetns(r, id) },
		RouteTo: func(netns, address string) (string, error) { return recordedRoute(r, recordedID(r, netns), address) },
		Started: func(int) (uint64, error) {
			return 0, errors.New("when the process began is known on its own host only: run snag tune plan there")
		},
		Read: func(t plan.Target) (string, error) { return recordedValue(r, t) },
		Same: func(_ plan.Target, a, b string) bool {
			return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
		},
	}
}

func recordedNetns(r *recording.Recording, id uint64) (string, bool) {
	if id == r.Manifest.Netns {
		return "", true
	}
	for _, n := range r.Netns {
		if n.ID == id && n.Name != "" && !strings.ContainsAny(n.Name, " []/") {
			return n.Name, true
		}
	}
	return "", false
}

// recordedID is the namespace of that name; the recording's own for "".
func recordedID(r *recording.Recording, name string) uint64 {
	for _, n := range r.Netns {
		if name != "" && n.Name == name {
			return n.ID
		}
	}
	return r.Manifest.Netns
}

func here(r *recording.Recording, id, want uint64) bool {
	return id == want || id == 0 && want == r.Manifest.Netns
}

// recordedRoute is the longest prefix of the main table that holds an address.
func recordedRoute(r *recording.Recording, id uint64, address string) (string, error) {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "", fmt.Errorf("find the route to %q: it is not an address", address)
	}
	best := netip.Prefix{}
	for _, route := range r.Routes {
		p, err := netip.ParsePrefix(route.Dst)
		if err == nil && here(r, route.Netns, id) && route.In == 254 && route.Expires == 0 && p.Contains(a) && (!best.IsValid() || p.Bits() > best.Bits()) {
			best = p
		}
	}
	switch {
	case !best.IsValid():
		return "", fmt.Errorf("the recording has no route to %s", address)
	case best.Bits() == 0:
		return "default", nil
	}
	return best.String(), nil
}

func recordedValue(r *recording.Recording, t plan.Target) (string, error) {
	id := recordedID(r, t.Netns)
	switch t.Kind {
	case "sysctl":
		return recordedSysctl(r, id, t.Name)
	case "qdisc":
		return recordedQdisc(r, id, t)
	case "ring", "channels", "coalesce", "feature":
		for i := len(r.NICs) - 1; i >= 0; i-- {
			if n := r.NICs[i]; n.Device == t.Device && here(r, n.Netns, id) {
				return recordedNIC(n, t)
			}
		}
	case "cpu-quota", "unit":
		return recordedQuota(r, t)
	case "route":
		return "", nil // the table tells an MTU only; apply looks again
	case "thp":
		if v, ok := r.FactOf("transparent_hugepage."+t.Name, 0); ok {
			return v, nil
		}
	case "rps", "xps", "rfs":
		return recordedQueue(r, id, t)
	}
	return "", errUnread
}

// recordedSysctl is a fact of that namespace where it has its own, else the host's.
func recordedSysctl(r *recording.Recording, id uint64, name string) (string, error) {
	for _, at := range []uint64{id, 0} {
		if v, ok := r.FactOf(name, at); ok {
			return strings.Join(strings.Fields(v), " "), nil
		}
	}
	for i := len(r.Facts) - 1; i >= 0; i-- { // connection tracking has one for all, read where it counts
		if r.Facts[i].Name == name && strings.HasPrefix(name, "net.netfilter.") {
			return r.Facts[i].Value, nil
		}
	}
	return "", errUnread
}

func recordedQdisc(r *recording.Recording, id uint64, t plan.Target) (string, error) {
	for i := len(r.Qdiscs) - 1; i >= 0; i-- {
		q := r.Qdiscs[i]
		if q.Device != t.Device || !here(r, q.Netns, id) || q.Parent != t.Parent {
			continue
		}
		if v, ok := q.Options[t.Name]; ok {
			return strings.TrimRight(v, "abcdefghijklmnopqrstuvwxyz"), nil
		}
	}
	return "", errUnread
}

func recordedNIC(n recording.NIC, t plan.Target) (string, error) {
	number := func(v *int) (string, error) {
		if v == nil {
			return "", errUnread
		}
		return strconv.Itoa(*v), nil
	}
	flag := func(v *bool) (string, error) {
		switch {
		case v == nil:
			return "", errUnread
		case *v:
			return "on", nil
		}
		return "off", nil
	}
	switch {
	case t.Kind == "ring" && n.Rings != nil && t.Name == "rx":
		return number(n.Rings.Rx)
	case t.Kind == "ring" && n.Rings != nil && t.Name == "tx":
		return number(n.Rings.Tx)
	case t.Kind == "channels" && n.Channels != nil && t.Name == "combined":
		return number(n.Channels.Combined)
	case t.Kind == "coalesce" && n.Coalesce != nil && t.Name == "adaptive-rx":
		return flag(n.Coalesce.AdaptiveRx)
	case t.Kind == "coalesce" && n.Coalesce != nil && t.Name == "rx-usecs":
		return number(n.Coalesce.RxUsecs)
	case t.Kind == "feature":
		if v, ok := n.Features[t.Name]; ok {
			return flag(&v)
		}
	}
	return "", errUnread
}

func recordedQuota(r *recording.Recording, t plan.Target) (string, error) {
	for i := len(r.Cgroups) - 1; i >= 0; i-- {
		c := r.Cgroups[i]
		if c.Quota <= 0 || c.Period <= 0 {
			continue
		}
		switch {
		case t.Kind == "unit" && t.Name == "CPUQuota" && c.Unit == t.Unit:
			return fmt.Sprintf("%.0f%%", 100*c.Quota/c.Period), nil
		case t.Kind == "cpu-quota" && c.Path == t.Path:
			return fmt.Sprintf("%.0f %.0f", 1e6*c.Quota, 1e6*c.Period), nil
		}
	}
	return "", errUnread
}
