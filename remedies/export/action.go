package export

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"snag/remedies/plan"
)

// The ordinary programs, where a host with /usr merged has them.
const (
	ipProgram       = "/usr/sbin/ip"
	tcProgram       = "/usr/sbin/tc"
	ethtoolProgram  = "/usr/sbin/ethtool"
	tmpfilesProgram = "/usr/bin/systemd-tmpfiles"
)

// action is how a change is made without snag: a program and its words, or a value
// for a file below /proc or /sys.
type action struct {
	args        []string
	path, value string
}

func run(args ...string) []action { return []action{{args: args}} }

// actions are how a change is made; why says what keeps it from being made so.
func (n in) actions(c plan.Change) (all []action, why string) {
	t := c.Target
	if file, ok := fileOf(t); ok {
		return []action{{path: file, value: fields(c.Then)}}, ""
	}
	if at, ok := ethtoolAt[t.Kind]; ok {
		return run(ethtoolProgram, at.set, t.Device, t.Name, c.Then), ""
	}
	switch t.Kind {
	case "txqueuelen":
		return run(ipProgram, "link", "set", "dev", t.Device, "txqueuelen", c.Then), ""
	case "qdisc":
		return n.qdiscActions(c)
	case "route":
		return n.routeActions(c)
	}
	return nil, fmt.Sprintf("no ordinary program sets a %s so that it lasts", t.Kind)
}

// fileOf is the kernel's file for a target that is nothing but one.
func fileOf(t plan.Target) (string, bool) {
	queue := func(side, file string) (string, bool) {
		if t.Queue == nil {
			return "", false
		}
		return path.Join("/sys/class/net", t.Device, "queues", side+strconv.Itoa(*t.Queue), file), true
	}
	switch t.Kind {
	case "sysctl":
		return sysctlFile(t.Name), true
	case "rps":
		return queue("rx-", "rps_cpus")
	case "rfs":
		return queue("rx-", "rps_flow_cnt")
	case "xps":
		return queue("tx-", "xps_cpus")
	case "irq":
		return fmt.Sprintf("/proc/irq/%d/smp_affinity", t.IRQ), true
	case "thp":
		return "/sys/kernel/mm/transparent_hugepage/" + t.Name, true
	}
	return "", false
}

// sysctlFile is the file of a sysctl. A dot in an interface's name is a slash in the
// sysctl's (sysctl(8)).
func sysctlFile(name string) string {
	return "/proc/sys/" + strings.Map(func(r rune) rune {
		switch r {
		case '.':
			return '/'
		case '/':
			return '.'
		}
		return r
	}, name)
}

// ethtoolAt are the kinds that ethtool(8) sets, and by which options.
var ethtoolAt = map[string]struct{ set, show string }{
	"ring":     {"-G", "-g"},
	"channels": {"-L", "-l"},
	"coalesce": {"-C", "-c"},
	"feature":  {"-K", "-k"},
}

// fields parts a value by single blanks: the kernel parts them by tabs.
func fields(value string) string { return strings.Join(strings.Fields(value), " ") }

// unnamed reports whether a target's network namespace has no name, but is that of a
// process ("pid:812").
func unnamed(t plan.Target) bool { return strings.HasPrefix(t.Netns, "pid:") }

const noName = "its network namespace has no name, and ends with its processes: only who makes it can set it"

// routeActions change a route that is there already; all of it must be said.
func (n in) routeActions(c plan.Change) (all []action, why string) {
	r, ok := n.facts.Routes[c.Target.String()]
	if !ok {
		return nil, "what else the route has the plan does not say: export it on the host itself"
	}
	args := []string{ipProgram, "route", "replace", c.Target.Route}
	add := func(name, value string) {
		if value != "" {
			args = append(args, name, value)
		}
	}
	add("via", r.Gateway)
	add("dev", r.Device)
	add("src", r.Source)
	add("proto", r.Protocol)
	add("scope", r.Scope)
	if r.Metric != 0 {
		add("metric", strconv.Itoa(r.Metric))
	}
	for _, name := range routeMetrics {
		value := r.Metrics[name]
		if name == c.Target.Name {
			value = c.Then
		}
		if value != "" && value != "0" {
			add(name, ipMetric(name, value))
		}
	}
	return run(args...), ""
}

var routeMetrics = []string{"mtu", "advmss", "initcwnd", "initrwnd", "rto_min", "quickack"}

// ipMetric writes a metric as ip(8) takes it: a bare number would be seconds' jiffies
// of old for rto_min.
func ipMetric(name, value string) string {
	if name == "rto_min" {
		return value + "ms"
	}
	return value
}
