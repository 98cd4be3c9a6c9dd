package recorder

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snag/recording"
)

// Resolve finds the processes or the network namespace of a target in a recording.
func Resolve(r *recording.Recording, t recording.Target) (recording.Target, error) {
	var is func(recording.Process) bool
	switch {
	case t.PID != 0:
		is = func(p recording.Process) bool { return p.PID == t.PID }
	case t.Unit != "":
		is = func(p recording.Process) bool {
			return p.Unit == recording.UnitName(t.Unit) || t.Holds(p.Cgroup)
		}
	case t.Container != "" || t.Pod != "":
		var groups []string
		for _, p := range r.Processes {
			groups = append(groups, p.Cgroup)
		}
		var err error
		if t, err = t.Named(r.Facts, groups); err != nil {
			return t, err
		}
		is = func(p recording.Process) bool { return t.Holds(p.Cgroup) }
	case t.Port != 0:
		serves := listeners(r, t.Port)
		is = func(p recording.Process) bool { return serves[p.PID] }
	case t.Netns != "":
		return inNetns(r, t)
	default:
		return t, nil
	}
	found := map[int]bool{}
	for _, p := range r.Processes {
		if is(p) {
			found[p.PID] = true
		}
	}
	if len(found) == 0 {
		return t, fmt.Errorf("look at %s: no such process was recorded from %s to %s", t.Name(), day(r.Manifest.Start), day(r.Manifest.End))
	}
	for grew := t.PID != 0; grew; { // its children, and theirs
		grew = false
		for _, p := range r.Processes {
			if found[p.PPID] && !found[p.PID] {
				found[p.PID], grew = true, true
			}
		}
	}
	for pid := range found {
		t.PIDs = append(t.PIDs, pid)
	}
	slices.Sort(t.PIDs)
	return t, nil
}

func listeners(r *recording.Recording, port int) map[int]bool {
	out := map[int]bool{}
	for _, s := range r.Sockets {
		if (s.State == "LISTEN" || s.Proto == "udp" && s.Remote == "") && strings.HasSuffix(s.Local, ":"+strconv.Itoa(port)) {
			for _, o := range s.Owners {
				out[o.PID] = true
			}
		}
	}
	return out
}

func inNetns(r *recording.Recording, t recording.Target) (recording.Target, error) {
	for _, n := range r.Netns {
		if n.Name == t.Netns || strconv.FormatUint(n.ID, 10) == t.Netns {
			t.NetnsID = n.ID
			return t, nil
		}
	}
	return t, fmt.Errorf("look at netns %s: no such namespace was recorded from %s to %s", t.Netns, day(r.Manifest.Start), day(r.Manifest.End))
}
