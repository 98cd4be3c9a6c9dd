package remedy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// Kept says where settings are kept over a restart: of those that each are enough, the
// one that now sets.
func Kept(s *scene.Scene, r *recording.Recording, set []suspect.Setting) string {
	var text, needs []string
	add := func(list []string, one string) []string {
		for _, have := range list {
			if have == one {
				return list
			}
		}
		return append(list, one)
	}
	options := map[string][]string{} // of an interface's queues
	for _, c := range chosen(s, r, set) {
		if c.Kind == "qdisc" {
			options[c.At.Device] = add(options[c.At.Device], c.Name+" "+c.Value)
		} else {
			text = add(text, KeptIn(c, s))
		}
		if c.Needs != "" {
			needs = add(needs, c.Needs)
		}
	}
	for _, device := range slices.Sorted(maps.Keys(options)) {
		text = append(text, fmt.Sprintf("%s in the .network file of %s, or in the unit that sets its queue", strings.Join(options[device], " and "), device))
	}
	if len(needs) > 0 {
		text = append(text, "it needs "+strings.Join(needs, "; "))
	}
	if len(text) == 0 {
		return ""
	}
	return strings.Join(text, "; ") + "."
}

// KeptIn is the file, or the file's kind, that a setting is kept in.
func KeptIn(c suspect.Setting, s *scene.Scene) string {
	switch c.Kind {
	case "sysctl":
		if s.OwnNetns(c.At.Netns) {
			return fmt.Sprintf("%s = %s in /etc/sysctl.d", c.Name, c.Value)
		}
		return fmt.Sprintf("%s = %s where the network namespace is made", c.Name, c.Value)
	case "route":
		return fmt.Sprintf("%s %s of the route to %s, where routes are kept (.network, netplan)", c.Name, c.Value, c.Route)
	case "unit":
		return fmt.Sprintf("%s=%s in %s (systemctl edit %s)", c.Name, c.Value, c.Unit, c.Unit)
	case "cpu-quota":
		quota, period, _ := strings.Cut(c.Value, " ")
		return fmt.Sprintf("A CPU limit of %s µs in each %s where the group is made: --cpus of docker, limits.cpu of Kubernetes, CPUQuota= of a unit", quota, period)
	case "nofile":
		return "LimitNOFILE= in its unit, or ulimit -n where it is started"
	case "thp":
		return fmt.Sprintf("Write %s to /sys/kernel/mm/transparent_hugepage/%s at each boot, by a file in /etc/tmpfiles.d", c.Value, c.Name)
	case "ring":
		return fmt.Sprintf("RxBufferSize=%s in the .link file of %s", c.Value, c.At.Device)
	case "coalesce":
		return fmt.Sprintf("UseAdaptiveRxCoalesce= or RxCoalesceSec= in the .link file of %s", c.At.Device)
	case "channels":
		return fmt.Sprintf("CombinedChannels=%s in the .link file of %s", c.Value, c.At.Device)
	case "rps", "rfs":
		return "the masks of " + c.At.Device + " in a unit (ReceivePacketSteeringCPUMask= of the .link file from systemd 256 on)"
	case "irq":
		return "the interrupts' masks in a unit"
	}
	return c.String()
}

// Lasts reports whether a process is one of this host, and was not seen to end.
func Lasts(r *recording.Recording, p *scene.Process) bool {
	pid := p.Subject.PID
	return pid > 0 && !recording.StandsIn(pid) && !slices.ContainsFunc(r.Exits, func(x recording.Exit) bool { return x.PID == pid })
}

// GoesOn reports whether what acted in these intervals still did when the recording ended,
// within two samples: what is over needs no command.
func GoesOn(active []recording.Interval, window recording.Interval) bool {
	if len(active) == 0 {
		return false
	}
	end := active[len(active)-1].End
	return end == 0 || end.Add(2*time.Second) >= window.End
}

// UnitNow sets a property of a process' unit until the next boot; "" where the unit is not
// the system manager's (one of a user's, or inside of a container).
func UnitNow(p *scene.Process, property, value string) string {
	unit := ManagedUnit(p)
	if unit == "" {
		return ""
	}
	return fmt.Sprintf("systemctl set-property --runtime %s %s", Quoted(unit), Quoted(property+"="+value))
}

// ManagedUnit is a process' unit where only slices stand above it.
func ManagedUnit(p *scene.Process) string {
	last := p.Last()
	if last.Unit == "" {
		return ""
	}
	before, _, _ := strings.Cut(last.Cgroup, "/"+last.Unit)
	for _, part := range strings.Split(strings.Trim(before, "/"), "/") {
		if part != "" && !strings.HasSuffix(part, ".slice") {
			return ""
		}
	}
	return last.Unit
}

// Join is several sentences of one part, without those that are empty.
func Join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}
