package scene

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"snag/recording"
)

// Containers and machines that have a name in their control group: LXC, systemd-nspawn.
var (
	lxcStep     = regexp.MustCompile(`^lxc\.payload\.([\w.-]+)$`)
	machineStep = regexp.MustCompile(`^(?:machine-|systemd-nspawn@)(.+)\.(?:scope|service)$`) // a container or a VM
)

// placeOf is the pod, the container or the unit of a control group's path, and "" of none: "pod shop/web-0",
// "container web", or where their names are not known "pod 8d2f41aa", "container 3f2a9c1b0d4e", "unit nginx". A login
// and what is the system's own are none.
func (n groupNames) placeOf(cgroup string) string {
	if uid := recording.PodOf(cgroup); uid != "" { // an id of a container within it changes with each restart
		return "pod " + cmp.Or(n.pods[uid], uid[:8])
	}
	if id := recording.ContainerOf(cgroup); id != "" {
		return "container " + cmp.Or(n.containers[id], id[:12])
	}
	steps := strings.Split(cgroup, "/")
	for _, step := range slices.Backward(steps) {
		if m := lxcStep.FindStringSubmatch(step); m != nil {
			return "container " + m[1]
		}
		if m := machineStep.FindStringSubmatch(step); m != nil {
			return "machine " + m[1]
		}
	}
	for _, step := range slices.Backward(steps) {
		if unit := unitStep(step); unit != "" {
			return "unit " + unit
		}
	}
	return ""
}

// groupNames are the names of containers by id, and of pods by UID, as the runtimes of the host gave them.
type groupNames struct{ containers, pods map[string]string }

func groupNamesOf(facts []recording.Fact) groupNames {
	n := groupNames{map[string]string{}, map[string]string{}}
	for _, f := range facts {
		if id, is := strings.CutPrefix(f.Name, recording.FactContainer); is {
			n.containers[id] = f.Value
		}
		if uid, is := strings.CutPrefix(f.Name, recording.FactPod); is {
			n.pods[uid] = f.Value
		}
	}
	return n
}

// unitStep is the name of a unit without ".service"; "" of logins and systemd itself.
func unitStep(step string) string {
	for _, own := range []string{"session-", "user@", "user-", "init.scope"} {
		if strings.HasPrefix(step, own) {
			return ""
		}
	}
	if name, ok := strings.CutSuffix(step, ".service"); ok {
		return name
	}
	if strings.HasSuffix(step, ".scope") {
		return step
	}
	return ""
}

// place is where a process runs: its pod, its container or its unit; "" where nothing tells.
func (s *Scene) place(p *Process) string { return s.groups.placeOfProcess(p.Last()) }

func (n groupNames) placeOfProcess(row recording.Process) string {
	for _, path := range []string{row.GroupOf("unified"), row.Cgroup, row.GroupOf("memory")} {
		if place := n.placeOf(path); place != "" {
			return place
		}
	}
	if unit := unitStep(row.Unit); unit != "" {
		return "unit " + unit
	}
	return ""
}

// says reports whether a program's name says already in which unit it is; an interpreter's never does.
func says(comm, place string) bool {
	unit, ok := strings.CutPrefix(place, "unit ")
	_, runs := runnerOf(comm)
	return ok && !runs && (strings.HasPrefix(unit, comm) || strings.HasPrefix(comm, unit))
}

// groupName is what a person calls a control group: the unit or the container that it is of, else
// its path.
func (s *Scene) groupName(sub recording.Subject) string {
	last := sub.Cgroup[strings.LastIndexByte(sub.Cgroup, '/')+1:]
	if place := s.groups.placeOf(last); place != "" {
		return place
	}
	return "cgroup " + sub.Cgroup
}
