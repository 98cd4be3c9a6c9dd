package scene

import (
	"regexp"
	"strings"

	"snag/recording"
)

// runtimeName is how container runtimes name a network namespace: CNI's plug-ins and Podman by a UUID below /run/netns,
// Docker by twelve digits of its sandbox's id below /run/docker/netns.
var runtimeName = regexp.MustCompile(`^(?:(?:cni-|netns-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{12})$`)

// givenName reports whether a person chose the name of a namespace, and neither a container runtime nor snag, which
// names one without a name after a process in it ("of nginx[7]").
func givenName(name string) bool {
	return name != "" && !strings.HasPrefix(name, "of ") && !runtimeName.MatchString(name)
}

// containersOf are, for each network namespace, the pod, container or machine that it is of: the only one that has
// processes in it, and at least half of them. A command that runs in it from outside (nsenter) does not count against
// it.
func (n groupNames) containersOf(processes []recording.Process) map[uint64]string {
	last := map[int]recording.Process{}
	for _, row := range processes {
		last[row.PID] = row
	}
	all, in := map[uint64]int{}, map[uint64]map[string]int{}
	for _, row := range last {
		all[row.Netns]++
		place := n.placeOfProcess(row)
		if kind, _, _ := strings.Cut(place, " "); kind == "pod" || kind == "container" || kind == "machine" {
			if in[row.Netns] == nil {
				in[row.Netns] = map[string]int{}
			}
			in[row.Netns][place]++
		}
	}
	out := map[uint64]string{}
	for id, places := range in {
		for place, count := range places {
			if len(places) == 1 && 2*count >= all[id] {
				out[id] = place
			}
		}
	}
	return out
}
