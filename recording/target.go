package recording

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Target is what the user asked snag to look at; the zero Target is the machine.
type Target struct {
	PID   int    `json:"pid,omitempty"`
	Unit  string `json:"unit,omitempty"`
	Port  int    `json:"port,omitempty"`
	Netns string `json:"netns,omitempty"`
	// Container is a name, or an id or how it begins; Pod is NAMESPACE/NAME.
	Container string `json:"container,omitempty"`
	Pod       string `json:"pod,omitempty"`
	// Objective is how long an answer may take, s (--slo); 0: not said.
	Objective float64 `json:"objective_seconds,omitempty"`
	// What it was resolved to when the recording began.
	PIDs    []int  `json:"pids,omitempty"`
	NetnsID uint64 `json:"netns_id,omitempty"`
	GroupID string `json:"group_id,omitempty"` // the container's id, or the pod's UID
}

// Name is what a person calls the target: "unit nginx"; "" is the machine.
func (t Target) Name() string {
	switch {
	case t.PID != 0:
		return fmt.Sprintf("process %d", t.PID)
	case t.Unit != "":
		return "unit " + t.Unit
	case t.Port != 0:
		return fmt.Sprintf("port %d", t.Port)
	case t.Netns != "":
		return "netns " + t.Netns
	case t.Container != "":
		return "container " + t.Container
	case t.Pod != "":
		return "pod " + t.Pod
	}
	return ""
}

// Holds reports whether a control group is of the unit, the container or the pod that is the target.
func (t Target) Holds(cgroup string) bool {
	switch {
	case t.Unit != "":
		return InUnit(cgroup, t.Unit)
	case t.GroupID == "":
		return false
	case t.Container != "":
		return ContainerOf(cgroup) == t.GroupID
	}
	return t.Pod != "" && PodOf(cgroup) == t.GroupID
}

// Named is the target with the id of its container or pod: of all that were named in facts, and of the control
// groups. The error says what there is.
func (t Target) Named(facts []Fact, cgroups []string) (Target, error) {
	names, ids := map[string]string{}, map[string]bool{}
	of, prefix := ContainerOf, FactContainer
	if t.Pod != "" {
		of, prefix = PodOf, FactPod
	}
	for _, f := range facts {
		if id, is := strings.CutPrefix(f.Name, prefix); is {
			names[id] = f.Value
		}
	}
	for _, path := range cgroups {
		if id := of(path); id != "" {
			ids[id] = true
		}
	}
	var matches []string
	for id := range ids {
		if t.matches(id, names[id]) {
			matches = append(matches, id)
		}
	}
	if len(matches) == 1 {
		t.GroupID = matches[0]
		return t, nil
	}
	slices.Sort(matches)
	if len(matches) > 1 {
		return t, fmt.Errorf("look at %s: %d are called so: %s; give more of the id", t.Name(), len(matches), listed(matches, names))
	}
	all := slices.Sorted(maps.Keys(ids))
	if len(all) == 0 {
		return t, fmt.Errorf("look at %s: no process here is in a control group of a container (in a container, run with the host's PID and cgroup namespaces)", t.Name())
	}
	return t, fmt.Errorf("look at %s: no process is in one of that name or id; there are: %s", t.Name(), listed(all, names))
}

// leastID is how much of an id names a container.
const leastID = 4

func (t Target) matches(id, name string) bool {
	if t.Pod != "" {
		return name == t.Pod || id == t.Pod
	}
	last := name[strings.LastIndexByte(name, '/')+1:]
	return name == t.Container || last == t.Container || len(t.Container) >= leastID && strings.HasPrefix(id, t.Container)
}

// mostListed containers are in an error.
const mostListed = 10

// listed are names and ids as a person may type them.
func listed(ids []string, names map[string]string) string {
	var out []string
	for _, id := range ids[:min(len(ids), mostListed)] {
		out = append(out, strings.TrimSpace(names[id]+" "+id[:min(len(id), 12)]))
	}
	text := strings.Join(out, ", ")
	if n := len(ids) - mostListed; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// InUnit reports whether a control group is that of a systemd unit, or below it.
func InUnit(cgroup, unit string) bool {
	for part := range strings.SplitSeq(cgroup, "/") {
		if part == UnitName(unit) {
			return true
		}
	}
	return false
}

// UnitName completes a name as systemctl does: without the suffix of a kind of
// unit (systemd.unit(5)) a service is meant; "php8.2-fpm" has a dot and none.
func UnitName(name string) string {
	for _, kind := range []string{".service", ".slice", ".scope", ".socket", ".mount", ".swap"} { // those with a cgroup
		if strings.HasSuffix(name, kind) {
			return name
		}
	}
	return name + ".service"
}
