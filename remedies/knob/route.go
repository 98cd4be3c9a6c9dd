package knob

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// route sets one metric of a route of the main table (ip-route(8)); 0 is the
// kernel's own.
type route struct{}

// metric is a route's metric that snag sets.
type metric struct {
	get   func(*netlink.Route) *int
	least int64
	most  int64
}

var metrics = map[string]metric{
	"quickack": {get: func(r *netlink.Route) *int { return &r.QuickACK }, most: 1},
	"advmss":   {get: func(r *netlink.Route) *int { return &r.AdvMSS }, most: 65495},
	"mtu":      {get: func(r *netlink.Route) *int { return &r.MTU }, most: 65535},
	"initcwnd": {get: func(r *netlink.Route) *int { return &r.InitCwnd }, most: 1000},
	"initrwnd": {get: func(r *netlink.Route) *int { return &r.InitRwnd }, most: 10000},
	"rto_min":  {get: func(r *netlink.Route) *int { return &r.RtoMin }, most: 120000},
}

func (route) Valid(t plan.Target, value string) error {
	m, ok := metrics[t.Name]
	if !ok {
		return fmt.Errorf("%q is not a metric of a route that snag sets", t.Name)
	}
	if t.Route != "default" {
		if _, err := netip.ParsePrefix(t.Route); err != nil {
			return fmt.Errorf("%q is not a route: it is a prefix as 10.0.0.0/8, or default", t.Route)
		}
	}
	if err := validNetns(t); err != nil {
		return err
	}
	return whole("the metric "+t.Name, value, m.least, m.most)
}

func (route) Read(h Host, t plan.Target) (value string, err error) {
	err = h.inside(t, func() error {
		r, err := findRoute(t)
		if err == nil {
			value = strconv.Itoa(*metrics[t.Name].get(r))
		}
		return err
	})
	return value, err
}

func (route) Write(h Host, t plan.Target, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("set %s: %q is not a number", t, value)
	}
	return h.inside(t, func() error {
		r, err := findRoute(t)
		if err != nil {
			return err
		}
		*metrics[t.Name].get(r) = n
		r.Flags &= int(netlink.FLAG_ONLINK) // the others are the kernel's word on the link, and EINVAL
		if err := netlink.RouteReplace(r); err != nil {
			return fmt.Errorf("set %s to %s: %w", t, value, err)
		}
		return nil
	})
}

func (route) Same(_ plan.Target, a, b string) bool { return a == b }

// findRoute finds the one route of a target. Where several have its destination, or
// it has what would be lost when it is written back, it is left to a person.
func findRoute(t plan.Target) (*netlink.Route, error) {
	family := netlink.FAMILY_V4
	if p, err := netip.ParsePrefix(t.Route); err == nil && p.Addr().Is6() {
		family = netlink.FAMILY_V6
	}
	all, err := netlink.RouteListFiltered(family, &netlink.Route{Table: unix.RT_TABLE_MAIN}, netlink.RT_FILTER_TABLE)
	if err != nil {
		return nil, fmt.Errorf("list the routes: %w", err)
	}
	var found []netlink.Route
	for _, r := range all {
		if destination(r) != t.Route {
			continue
		}
		if t.Device != "" {
			l, err := link(t)
			if err != nil {
				return nil, err
			}
			if r.LinkIndex != l.Attrs().Index {
				continue
			}
		}
		found = append(found, r)
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("find route %s: %w", t.Route, ErrAbsent)
	case len(found) > 1:
		return nil, fmt.Errorf("there are %d routes to %s: name the device, or change it by hand", len(found), t.Route)
	case len(found[0].MultiPath) > 0 || found[0].Encap != nil || found[0].Via != nil || found[0].NewDst != nil:
		return nil, errors.New("the route " + t.Route + " has several ways or an encapsulation: change it by hand (ip route change)")
	}
	return &found[0], nil
}

func destination(r netlink.Route) string {
	if r.Dst == nil || r.Dst.IP.IsUnspecified() && onesOf(r) == 0 {
		return "default"
	}
	return r.Dst.String()
}

func onesOf(r netlink.Route) int {
	ones, _ := r.Dst.Mask.Size()
	return ones
}

// RouteTo is the destination of the main table's route that leads to an address, as a
// plan names it: the longest prefix that holds it.
func RouteTo(h Host, netns, address string) (dst string, err error) {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "", fmt.Errorf("%q is not an address", address)
	}
	err = h.In(netns, func() error {
		family := netlink.FAMILY_V4
		if a.Is6() && !a.Is4In6() {
			family = netlink.FAMILY_V6
		}
		all, err := netlink.RouteListFiltered(family, &netlink.Route{Table: unix.RT_TABLE_MAIN}, netlink.RT_FILTER_TABLE)
		if err != nil {
			return fmt.Errorf("list the routes: %w", err)
		}
		longest := -1
		for _, r := range all {
			d := destination(r)
			p, err := netip.ParsePrefix(d)
			bits := p.Bits()
			if d == "default" {
				bits, err = 0, nil
			} else if err != nil || !p.Contains(a.Unmap()) {
				continue
			}
			if bits > longest && err == nil {
				longest, dst = bits, d
			}
		}
		if dst == "" {
			return fmt.Errorf("no route of the main table leads to %s", address)
		}
		return nil
	})
	return dst, err
}
