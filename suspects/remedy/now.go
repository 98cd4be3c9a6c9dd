// Package remedy makes of settings the commands that a person can paste, in the right
// namespace, and says where a setting is kept.
package remedy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

// Now is the settings as one command line: those that hold as soon as they are set.
// "" where one of them can't be set by a command, as the others alone may not help.
func Now(s *scene.Scene, r *recording.Recording, set []suspect.Setting) string {
	set = chosen(s, r, set)
	later := map[string]bool{} // groups of which a part holds only after a restart
	for _, c := range set {
		later[c.Group] = c.Group != "" && (later[c.Group] || c.Needs != "")
	}
	set = slices.DeleteFunc(set, func(c suspect.Setting) bool { return c.Needs != "" || later[c.Group] })
	var lines []string
	for len(set) > 0 {
		first := set[0]
		together := func(c suspect.Setting) bool {
			return c.Kind == first.Kind && c.At.Netns == first.At.Netns && c.At.Device == first.At.Device && (c.Kind == "sysctl" || c.Kind == "qdisc")
		}
		var all []suspect.Setting
		for i, c := range set {
			if i == 0 || together(c) {
				all = append(all, c)
			}
		}
		set = slices.DeleteFunc(set[1:], together)
		line := Command(s, r, all)
		if line == "" {
			return ""
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " && ")
}

// chosen takes, of settings that each are enough, the first that a command can set.
func chosen(s *scene.Scene, r *recording.Recording, set []suspect.Setting) (out []suspect.Setting) {
	at := map[string]int{}
	for _, c := range set {
		i, again := at[c.Either]
		switch {
		case c.Either == "":
			out = append(out, c)
		case !again:
			at[c.Either] = len(out)
			out = append(out, c)
		case Command(s, r, out[i:i+1]) == "" && Command(s, r, []suspect.Setting{c}) != "":
			out[i] = c
		}
	}
	return out
}

// Command sets one setting, or several sysctls of a namespace or queues of an interface;
// "" where no ordinary program does.
func Command(s *scene.Scene, r *recording.Recording, all []suspect.Setting) string {
	c := all[0]
	nic := func(option string) string {
		return RunIn(s, c.At.Netns, fmt.Sprintf("ethtool -%s %s %s %s", option, Quoted(c.At.Device), c.Name, c.Value))
	}
	switch c.Kind {
	case "sysctl":
		line := "sysctl -w"
		for _, c := range all {
			line += " " + Quoted(c.Name+"="+c.Value)
		}
		return RunIn(s, c.At.Netns, line)
	case "qdisc":
		return queueCommand(s, all)
	case "route":
		return routeCommand(s, r, c)
	case "unit":
		for _, p := range s.Processes {
			if p.Last().Unit == c.Unit {
				return UnitNow(p, c.Name, c.Value)
			}
		}
	case "cpu-quota":
		return fmt.Sprintf("echo %s > %s", Quoted(c.Value), Quoted("/sys/fs/cgroup"+c.At.Cgroup+"/cpu.max"))
	case "nofile":
		return fmt.Sprintf("prlimit --pid %d --nofile=%s", c.At.PID, c.Value)
	case "thp":
		return fmt.Sprintf("echo %s > /sys/kernel/mm/transparent_hugepage/%s", Quoted(c.Value), c.Name)
	case "ring":
		return nic("G")
	case "coalesce":
		return nic("C")
	case "channels":
		return nic("L")
	}
	return ""
}

// queueCommand changes options of queues of one interface, alike at each.
func queueCommand(s *scene.Scene, all []suspect.Setting) string {
	var parents []string
	line := ""
	for _, c := range all {
		if !slices.Contains(parents, c.Parent) {
			parents = append(parents, c.Parent)
		}
	}
	for _, parent := range parents {
		q := queueAt(s, all[0].At, parent)
		if q == nil {
			return ""
		}
		change := "change"
		if strings.TrimLeft(q.Handle, "0") == ":" { // made by the kernel: it has no name to be changed by
			if parent != "root" {
				return ""
			}
			change = "replace"
		}
		options := map[string]string{}
		order := []string{}
		if q.Kind == "tbf" { // its parameters are set together (tc-tbf(8))
			if q.Options["rate"] == "" || q.Options["burst"] == "" || q.Options["limit"] == "" || q.Options["peakrate"] != "" {
				return ""
			}
			for _, name := range []string{"rate", "burst", "limit"} {
				options[name], order = q.Options[name], append(order, name)
			}
		}
		for _, c := range all {
			if c.Parent != parent {
				continue
			}
			if !slices.Contains(order, c.Name) {
				order = append(order, c.Name)
			}
			options[c.Name] = c.Value
			if q.Kind == "tbf" {
				options[c.Name] += map[string]string{"rate": "bit", "limit": "b"}[c.Name]
			}
		}
		one := fmt.Sprintf("tc qdisc %s dev %s PARENT %s", change, Quoted(all[0].At.Device), q.Kind)
		for _, name := range order {
			one += " " + name + " " + options[name]
		}
		if line != "" && line != one {
			return ""
		}
		line = one
	}
	at := func(parent string) string {
		if parent == "root" {
			return parent
		}
		return "parent " + parent
	}
	if len(parents) == 1 {
		return RunIn(s, all[0].At.Netns, strings.Replace(line, "PARENT", at(parents[0]), 1))
	}
	return RunIn(s, all[0].At.Netns, fmt.Sprintf("for q in %s; do %s; done", strings.Join(parents, " "), strings.Replace(line, "PARENT", "parent $q", 1)))
}

func queueAt(s *scene.Scene, at recording.Subject, parent string) *recording.Qdisc {
	for _, q := range s.Qdiscs {
		if q.Row.Netns == at.Netns && q.Row.Device == at.Device && (q.Row.Parent == parent || parent == "root" && q.Row.Parent == "") {
			return &q.Row
		}
	}
	return nil
}

// routeCommand adds a metric to the route that leads to an address, and keeps the rest of
// it. Routes of several hops, of other tables than the main one, or one of several to the
// same prefix are left to a person.
func routeCommand(s *scene.Scene, r *recording.Recording, c suspect.Setting) string {
	netns := measure.Namespace(r, c.At.Netns)
	route, ok := measure.RouteTo(r, netns, c.Route)
	if !ok || route.Type != "" || len(route.Hops) > 0 || route.In != mainTable {
		return ""
	}
	for _, other := range r.Routes {
		if other.Netns == netns && other.Dst == route.Dst && !other.Exception && other.Metric != route.Metric {
			return ""
		}
	}
	ip := "ip"
	if strings.Contains(route.Dst, ":") {
		ip = "ip -6"
	}
	return RunIn(s, netns, fmt.Sprintf("%[1]s route change $(%[1]s -o route show exact %[2]s) %[3]s %[4]s", ip, route.Dst, c.Name, c.Value))
}

// mainTable is the number of the routing table that ip route shows (RT_TABLE_MAIN).
const mainTable = 254

// Close ends one TCP connection of this host, or, if local is "", all connections to a remote
// address. Their program gets ECONNABORTED (ss(8), -K).
func Close(s *scene.Scene, netns uint64, local, remote string) string {
	if recording.IsUnix(remote) || local != "" && recording.Port(local) == "" || recording.Port(remote) == "" {
		return ""
	}
	if local == "" {
		return RunIn(s, netns, fmt.Sprintf("ss -K %s", Quoted("dst "+remote)))
	}
	return RunIn(s, netns, fmt.Sprintf("ss -K %s", Quoted(fmt.Sprintf("dst %s src %s", remote, local))))
}

// RunIn is a command as it runs in a network namespace; "" where no name and no process
// of it is known.
func RunIn(s *scene.Scene, netns uint64, line string) string {
	prefix, ok := enter(s, netns)
	switch {
	case !ok:
		return ""
	case prefix == "":
		return line
	case strings.ContainsAny(inQuotes.ReplaceAllString(line, ""), ";|&><$*"):
		line = "sh -c " + Quoted(line)
	}
	// ip netns exec shows the namespace's own /sys; nsenter does not.
	if strings.Contains(line, "/sys/class/net/") && strings.HasPrefix(prefix, "nsenter") {
		line = "unshare -m sh -c " + Quoted("mount -t sysfs sysfs /sys && "+line)
	}
	return prefix + line
}

// enter is what stands before a command that is to run in a namespace: by its name under
// /run/netns, else by a process that lives in it.
func enter(s *scene.Scene, netns uint64) (prefix string, ok bool) {
	if s.OwnNetns(netns) {
		return "", true
	}
	name := s.NetnsName(netns)
	if name != "" && !strings.ContainsAny(name, " []") {
		return "ip netns exec " + Quoted(name) + " ", true
	}
	var in *scene.Process
	for _, p := range s.Processes {
		if p.Last().Netns == netns && (in == nil || p.Last().T > in.Last().T) {
			in = p
		}
	}
	if in == nil || recording.StandsIn(in.Subject.PID) {
		return "", false
	}
	return fmt.Sprintf("nsenter -t %d -n ", in.Last().PID), true
}

// Quoted is a word for a shell.
func Quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var inQuotes = regexp.MustCompile(`'[^']*'`)

var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// InNetns is a command as it must be pasted for that namespace, for a person to look at:
// where nobody is known to be in it, it says so.
func InNetns(s *scene.Scene, netns uint64, command string) string {
	prefix, ok := enter(s, netns)
	if !ok && s.NetnsName(netns) != "" {
		return command + "   # in " + s.NetnsName(netns)
	}
	return prefix + command
}
