package scene

import (
	"regexp"
	"strings"

	"snag/recording"
)

// How the paths of control groups name pods, containers and units: kubelet with its two drivers,
// Docker, containerd, CRI-O and Podman, LXC, systemd-nspawn, systemd.
var (
	podStep       = regexp.MustCompile(`^(?:kubepods-)?(?:besteffort-|burstable-)?pod([0-9a-f]{8})[-_0-9a-f]*(?:\.slice)?$`)
	containerStep = regexp.MustCompile(`^(?:[a-z-]+-)?([0-9a-f]{12})[0-9a-f]{52}(?:\.scope)?$`)
	lxcStep       = regexp.MustCompile(`^lxc\.payload\.([\w.-]+)$`)
	machineStep   = regexp.MustCompile(`^(?:machine-|systemd-nspawn@)(.+)\.(?:scope|service)$`) // a container or a VM
)

// placeOf is the pod, the container or the unit of a control group's path, and "" of none: "pod
// 8d2f41aa", "container 3f2a9c1b0d4e", "unit nginx". A login and what is the system's own are none.
func placeOf(cgroup string) string {
	steps := strings.Split(cgroup, "/")
	place := ""
	for i := len(steps) - 1; i >= 0; i-- {
		if m := podStep.FindStringSubmatch(steps[i]); m != nil {
			return "pod " + m[1] // an id of a container within it changes with each restart
		}
		if m := containerStep.FindStringSubmatch(steps[i]); m != nil && place == "" {
			place = "container " + m[1]
		}
		if m := lxcStep.FindStringSubmatch(steps[i]); m != nil && place == "" {
			place = "container " + m[1]
		}
		if m := machineStep.FindStringSubmatch(steps[i]); m != nil && place == "" {
			place = "machine " + m[1]
		}
	}
	if place != "" {
		return place
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if unit := unitStep(steps[i]); unit != "" {
			return "unit " + unit
		}
	}
	return ""
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

// Place is where a process runs: its pod, its container or its unit; "" where nothing tells.
func (p *Process) Place() string {
	row := p.Last()
	for _, path := range []string{row.GroupOf("unified"), row.Cgroup, row.GroupOf("memory")} {
		if place := placeOf(path); place != "" {
			return place
		}
	}
	if unit := unitStep(row.Unit); unit != "" {
		return "unit " + unit
	}
	return ""
}

// says tells whether a program's name says already in which unit it is; an interpreter's never does.
func says(comm, place string) bool {
	unit, ok := strings.CutPrefix(place, "unit ")
	_, runs := runnerOf(comm)
	return ok && !runs && (strings.HasPrefix(unit, comm) || strings.HasPrefix(comm, unit))
}

// groupName is what a person calls a control group: the unit or the container that it is of, else
// its path.
func groupName(sub recording.Subject) string {
	last := sub.Cgroup[strings.LastIndexByte(sub.Cgroup, '/')+1:]
	if place := placeOf(last); place != "" {
		return place
	}
	return "cgroup " + sub.Cgroup
}
