package exporter

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"snag/fleet/prom"
)

// always are the series that each node_exporter has and a recorder of snag, which sends others of the same names, has
// not.
const always = `__name__=~"node_exporter_build_info|node_uname_info"`

// Find reads which hosts node_exporter was scraped on within the last hour, with their names and addresses. chosen are
// matchers of those that were asked for; "": all. A store without node_exporter is asked once.
func Find(ctx context.Context, q Querier, chosen string, at time.Time) (*Hosts, error) {
	hs := &Hosts{At: at, by: map[key]*Host{}}
	known, err := q.Query(ctx, within(always), at)
	if err != nil || len(known.Samples) == 0 {
		return hs, err
	}
	for _, s := range known.Samples {
		k := keyOf(s.Labels)
		h := hs.by[k]
		if h == nil {
			h = &Host{key: k, Instance: k.instance, Chosen: chosen == ""}
			hs.by[k] = h
			hs.All = append(hs.All, h)
		}
		h.nodename = cmp.Or(s.Labels["nodename"], h.nodename)
	}
	for _, h := range hs.All {
		h.named()
	}
	asks := []struct {
		expression string
		take       func(h *Host, s prom.Sample)
	}{
		{"max by (" + labels + ") ({" + always + "})", func(h *Host, _ prom.Sample) { h.Scraped = true }},
		{"max by (" + labels + ") (node_boot_time_seconds)", func(h *Host, s prom.Sample) { h.boot = s.Value }},
		// Off by default (--collector.netdev.address-info). node_network_info has the hardware's address alone.
		{"max by (" + labels + `, address) (node_network_address_info{scope="global"})`, func(h *Host, s prom.Sample) {
			if a, err := netip.ParseAddr(s.Labels["address"]); err == nil {
				h.has(a)
			}
		}},
	}
	for _, one := range asks {
		a, err := q.Query(ctx, one.expression, at)
		if err != nil {
			return nil, err
		}
		for _, s := range a.Samples {
			if h := hs.by[keyOf(s.Labels)]; h != nil {
				one.take(h, s)
			}
		}
	}
	if err := hs.choose(ctx, q, chosen); err != nil {
		return nil, err
	}
	hs.distinct()
	return hs, hs.kubernetes(ctx, q)
}

// within is what selectors had within the last hour.
func within(matchers string) string {
	return fmt.Sprintf("max by (%s, nodename) (last_over_time({%s}[%dm]))", labels, matchers, int(before.Minutes()))
}

// choose marks the hosts that were asked for.
func (hs *Hosts) choose(ctx context.Context, q Querier, chosen string) error {
	if chosen == "" {
		return nil
	}
	a, err := q.Query(ctx, within(always+","+chosen), hs.At)
	if err != nil {
		return err
	}
	for _, s := range a.Samples {
		if h := hs.by[keyOf(s.Labels)]; h != nil {
			h.Chosen = true
		}
	}
	return nil
}

// kubernetes reads the addresses of nodes, where kube-state-metrics has them.
func (hs *Hosts) kubernetes(ctx context.Context, q Querier) error {
	a, err := q.Query(ctx, "max by (cluster, node, internal_ip) (kube_node_info)", hs.At)
	if err != nil || len(a.Samples) == 0 {
		return err
	}
	by := map[[2]string][]*Host{}
	for _, h := range hs.All {
		for _, name := range h.Names {
			by[[2]string{h.cluster, name}] = append(by[[2]string{h.cluster, name}], h)
		}
	}
	for _, s := range a.Samples {
		at, err := netip.ParseAddr(s.Labels["internal_ip"])
		if same := by[[2]string{s.Labels["cluster"], strings.ToLower(s.Labels["node"])}]; err == nil && len(same) == 1 {
			same[0].has(at)
		}
	}
	return nil
}
