package remedies

import (
	"strconv"
	"strings"

	"snag/remedies/plan"
	"snag/suspects/suspect"
)

// change makes a setting one of a plan; why says what keeps it from being one. Where
// that is that it is so already, the change has no more than its target and its value.
func (here Here) change(s suspect.Setting) (c plan.Change, why string) {
	t := plan.Target{Kind: s.Kind, Name: s.Name, Device: s.At.Device, Path: s.At.Cgroup, Parent: s.Parent, Queue: s.Queue, IRQ: s.IRQ, Unit: s.Unit}
	if s.At.Netns != 0 {
		name, ok := here.Netns(s.At.Netns)
		if !ok {
			return c, "nothing is in its network namespace any more that a plan could name"
		}
		t.Netns = name
	}
	var err error
	if s.Kind == "nofile" {
		t.PID = s.At.PID
	}
	pid := t.PID
	if n, ok := strings.CutPrefix(t.Netns, "pid:"); ok && pid == 0 {
		pid, _ = strconv.Atoi(n)
	}
	if pid != 0 {
		if t.Started, err = here.Started(pid); err != nil {
			return c, err.Error()
		}
	}
	if s.Route != "" {
		if t.Route, err = here.RouteTo(t.Netns, s.Route); err != nil {
			return c, err.Error()
		}
	}
	if here.Fit != nil {
		if s.Value, err = here.Fit(t, s.Value); err != nil {
			return c, err.Error()
		}
	}
	now, err := here.Read(t)
	if s.AtLeast && err == nil {
		s.Value = larger(now, s.Value)
	}
	switch {
	case err != nil:
		return c, err.Error()
	case here.Same(t, now, s.Value):
		return plan.Change{Target: t, Now: now}, "it is so already: " + now
	}
	if s.Needs == "" && here.Needs != nil {
		s.Needs = here.Needs(t)
	}
	return plan.Change{Target: t, Now: now, Then: s.Value, Why: s.Why, Risk: s.Risk, Needs: s.Needs, Persists: persists(t)}, ""
}

// persists is the kind of file that holds a setting across a reboot.
func persists(t plan.Target) string {
	switch t.Kind {
	case "sysctl":
		if t.Netns != "" {
			return "a unit: sysctl.d sets the host's own namespace only"
		}
		return "sysctl.d"
	case "ring", "channels", "coalesce", "feature", "txqueuelen":
		return "a .link file"
	case "route":
		if t.Netns == "" {
			return "the .network file ([Route])"
		}
	case "qdisc":
		switch {
		case t.Netns != "":
		case t.Parent == "root":
			return "the .network file, or the unit that sets the qdisc"
		default:
			return "a unit: a .network file holds the root qdisc only"
		}
	case "unit":
		return "a drop-in of the unit"
	case "cpu-quota":
		return "CPUQuota= of the unit"
	case "nofile":
		return "LimitNOFILE= of the unit"
	}
	if t.Netns != "" {
		return "a unit: systemd-networkd sets the host's own namespace only"
	}
	return "a unit"
}

// larger is of each number of two values the larger; the second where they are no
// numbers.
func larger(now, then string) string {
	a, b := strings.Fields(now), strings.Fields(then)
	if len(a) != len(b) {
		return then
	}
	for i := range a {
		x, err1 := strconv.ParseInt(strings.TrimRight(a[i], "abcdefghijklmnopqrstuvwxyz"), 10, 64) // of qdiscs: 2000000bit
		y, err2 := strconv.ParseInt(b[i], 10, 64)
		if err1 != nil || err2 != nil {
			return then
		}
		if x >= y {
			b[i] = a[i]
		}
	}
	return strings.Join(b, " ")
}

// stronger is the one value for two culprits that want the same set: of numbers that
// both go up, or both down, the one that goes further. same is false where they
// want it different ways.
func stronger(now, a, b string) (value string, same bool) {
	if a == b {
		return a, true
	}
	n, x, y := strings.Fields(now), strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) || len(n) != len(x) {
		return a, false
	}
	out := make([]string, len(x))
	for i := range x {
		was, err1 := strconv.ParseInt(n[i], 10, 64)
		p, err2 := strconv.ParseInt(x[i], 10, 64)
		q, err3 := strconv.ParseInt(y[i], 10, 64)
		switch {
		case err1 != nil || err2 != nil || err3 != nil, p > was && q < was, p < was && q > was:
			return a, false
		case p <= was && q <= was:
			out[i] = strconv.FormatInt(min(p, q), 10)
		default:
			out[i] = strconv.FormatInt(max(p, q), 10)
		}
	}
	return strings.Join(out, " "), true
}
