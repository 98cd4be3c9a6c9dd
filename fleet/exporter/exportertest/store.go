// Package exportertest is a made-up store for tests: it answers the queries of fleet/exporter, and no other. What
// PromQL makes of counters is tested with a real Prometheus.
package exportertest

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"snag/fleet/prom"
)

// Host is one that node_exporter is scraped on.
type Host struct {
	// Labels of its series, and nodename of node_uname_info.
	Labels   map[string]string
	Nodename string
	// Down: it was scraped within the last hour, and is not now.
	Down bool
	// Now and Usual are the numbers by what is asked: "overflows", and "drops in/eth0" of a device. Counters are a
	// second's.
	Now, Usual map[string]float64
	// Addresses that node_network_address_info has.
	Addresses []string
}

// Store has hosts. A query that contains one of Refuse ends with its error.
type Store struct {
	Hosts  []*Host
	Refuse map[string]error
	Warn   []string
	Nodes  [][2]string // node and internal_ip of kube_node_info
	Asked  []string
}

// Healthy are the numbers of a host on which nothing is wrong: four CPUs, 16 GB, a disk and an interface.
func Healthy(at time.Time) map[string]float64 {
	return map[string]float64{
		"boot": float64(at.Add(-240 * time.Hour).Unix()), "samples": 20,
		"overflows": 0, "listen drops": 0, "cookies": 0, "again": 0.02, "segments": 1000, "udp full": 0, "udp6 full": 0, "udp": 100, "udp6": 1,
		"entries": 2000, "entries limit": 262144, "untracked": 0, "backlog drops": 0, "squeezes": 0.01,
		"packets in/eth0": 1000, "packets out/eth0": 1000, "drops in/eth0": 0, "drops out/eth0": 0, "errors in/eth0": 0, "errors out/eth0": 0, "fifo in/eth0": 0,
		"qdisc drops/eth0": 0, "idle": 3.2, "iowait": 0.1, "steal": 0, "softirq": 0.05, "cpus": 4, "load": 0.7,
		"waits for cpu": 0.02, "stalled by io": 0.001, "waits for memory": 0,
		"disk busy/sda": 0.1, "disk time/sda": 0.1, "reads/sda": 20, "writes/sda": 80, "read time/sda": 0.02, "write time/sda": 0.08,
		"oom kills": 0, "swapped in": 0, "swapped out": 0, "major faults": 0.1, "available": 9e9, "memory": 16e9,
		"files": 4000, "files limit": 1e6, "offset": 0.0001, "synchronized": 1, "clock ahead": 0.02, "time-wait": 300, "orphans": 2, "tcp memory": 4e6,
	}
}

// Add makes a healthy host, known by instance alone, for an hour and more.
func (s *Store) Add(at time.Time, instance, nodename string) *Host {
	h := &Host{Labels: map[string]string{"instance": instance}, Nodename: nodename, Now: Healthy(at), Usual: Healthy(at)}
	h.Usual["samples"] = 240
	s.Hosts = append(s.Hosts, h)
	return h
}

var (
	asked    = regexp.MustCompile(`"asked", "([^"]+)"`)
	instance = regexp.MustCompile(`instance=~("(?:[^"\\]|\\.)*")`)
	matcher  = regexp.MustCompile(`,(\w+)="([^"]*)"}`)
)

// Query answers.
func (s *Store) Query(_ context.Context, q string, at time.Time) (a prom.Answer, err error) {
	s.Asked = append(s.Asked, q)
	for text, err := range s.Refuse {
		if strings.Contains(q, text) {
			return a, err
		}
	}
	a.Warnings = s.Warn
	for _, n := range s.Nodes {
		if strings.Contains(q, "kube_node_info") {
			a.Samples = append(a.Samples, prom.Sample{Labels: map[string]string{"node": n[0], "internal_ip": n[1]}, Value: 1, At: at})
		}
	}
	these := of(q)
	for _, h := range s.Hosts {
		if these.MatchString(h.Labels["instance"]) && h.chosen(q) {
			a.Samples = append(a.Samples, h.samples(q, at)...)
		}
	}
	return a, nil
}

// of matches the instances that a query is for.
func of(q string) *regexp.Regexp {
	m := instance.FindStringSubmatch(q)
	if m == nil {
		return regexp.MustCompile("")
	}
	text, err := strconv.Unquote(m[1])
	if err != nil {
		panic(fmt.Sprintf("%s: %v", m[1], err))
	}
	return regexp.MustCompile("^(?:" + text + ")$")
}

// chosen reports whether a host has the labels of a query.
func (h *Host) chosen(q string) bool {
	m := matcher.FindStringSubmatch(q)
	return m == nil || !strings.Contains(q, "last_over_time({__name__") || h.Labels[m[1]] == m[2]
}

func (h *Host) samples(q string, at time.Time) (out []prom.Sample) {
	add := func(v float64, more ...string) {
		l := map[string]string{}
		for _, name := range []string{"instance", "cluster", "node", "host", "hostname"} { // those that fleet/exporter groups by
			if h.Labels[name] != "" {
				l[name] = h.Labels[name]
			}
		}
		for i := 0; i+1 < len(more); i += 2 {
			l[more[i]] = more[i+1]
		}
		out = append(out, prom.Sample{Labels: l, Value: v, At: at})
	}
	switch {
	case strings.Contains(q, "last_over_time({__name__"):
		add(1)
		add(1, "nodename", h.Nodename)
	case strings.Contains(q, "kube_node_info") || h.Down:
	case strings.Contains(q, "node_network_address_info"):
		for _, a := range h.Addresses {
			add(1, "address", a)
		}
	case strings.Contains(q, "({__name__"):
		add(1)
	case !strings.Contains(q, "asked"): // when each booted
		add(h.Now["boot"])
	default:
		from := h.Now
		if strings.Contains(q, " offset ") {
			from = h.Usual
		}
		for _, m := range asked.FindAllStringSubmatch(q, -1) {
			for _, name := range slices.Sorted(maps.Keys(from)) {
				if what, device, _ := strings.Cut(name, "/"); what == m[1] {
					add(from[name], "asked", what, "device", device)
				}
			}
		}
	}
	return out
}
