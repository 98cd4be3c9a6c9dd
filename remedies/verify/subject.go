package verify

import (
	"fmt"
	"slices"
	"strings"

	"snag/recording"
	"snag/verdict"
)

// counterpart finds a subject of the recording before in the one after. A server that
// was started again has another number, and a container another namespace; the note
// says what it was known by.
func counterpart(before, after *verdict.Verdict, sub recording.Subject) (now recording.Subject, note string, ok bool) {
	r := after.Recording
	now = sub
	if sub.Netns != 0 && !hasNetns(r, sub.Netns) {
		id, found := movedTo(before.Recording, r, sub)
		if !found {
			return sub, "", false
		}
		now.Netns = id
		note = "its network namespace is a new one, known by the addresses or the program in it"
	}
	if sub.PID == 0 {
		now.Name = after.Scene.Name(now)
		return now, note, true
	}
	if acts(r, sub.PID, sub.Comm) {
		now.Name = after.Scene.Name(now)
		return now, note, true
	}
	pid := 0
	for _, p := range r.Processes {
		if p.Comm == sub.Comm && (p.Netns == 0 || now.Netns == 0 || p.Netns == now.Netns) {
			pid = p.PID
		}
	}
	if pid == 0 {
		// Nobody of that name: its port may still be served, by another program.
		for _, k := range r.Sockets {
			if sub.Local != "" && k.Netns == now.Netns && k.Proto == sub.Proto && recording.Port(k.Local) == recording.Port(sub.Local) && len(k.Owners) > 0 {
				pid, now.Comm = k.Owners[0].PID, k.Owners[0].Comm
			}
		}
	}
	if pid == 0 {
		return sub, note, false
	}
	now.PID, now.Inode = pid, 0
	now.Name = after.Scene.Name(now)
	known := "by its name"
	if sub.Local != "" {
		known = "by its name and port"
	}
	if note != "" {
		note += "; "
	}
	return now, note + fmt.Sprintf("%s[%d] is %s[%d] now, known %s", sub.Comm, sub.PID, now.Comm, pid, known), true
}

// acts reports whether a process was seen, or what it did: one without a socket that lasts
// has no row of its own.
func acts(r *recording.Recording, pid int, comm string) bool {
	return slices.ContainsFunc(r.Processes, func(p recording.Process) bool { return p.PID == pid && p.Comm == comm }) ||
		slices.ContainsFunc(r.Connections, func(c recording.Connections) bool { return c.PID == pid && c.Comm == comm }) ||
		slices.ContainsFunc(r.Turns, func(t recording.Turns) bool { return t.PID == pid && t.Comm == comm }) ||
		slices.ContainsFunc(r.CallErrors, func(e recording.CallError) bool { return e.PID == pid && e.Comm == comm })
}

func hasNetns(r *recording.Recording, id uint64) bool {
	if id == r.Manifest.Netns {
		return true
	}
	for _, n := range r.Netns {
		if n.ID == id {
			return true
		}
	}
	for _, k := range r.Sockets {
		if k.Netns == id {
			return true
		}
	}
	return false
}

// movedTo is the one namespace of after that has the addresses that the subject's had
// before, or its program.
func movedTo(before, after *recording.Recording, sub recording.Subject) (uint64, bool) {
	had := map[string]bool{}
	for _, n := range before.Netns {
		if n.ID == sub.Netns {
			for _, a := range n.Addrs {
				had[a] = !strings.HasPrefix(a, "lo ")
			}
		}
	}
	found := map[uint64]bool{}
	for _, n := range after.Netns {
		if slices.ContainsFunc(n.Addrs, func(a string) bool { return had[a] }) {
			found[n.ID] = true
		}
	}
	if len(found) == 0 && sub.Comm != "" { // one with a loopback alone
		for _, p := range after.Processes {
			if p.Comm == sub.Comm && p.Netns != 0 {
				found[p.Netns] = true
			}
		}
	}
	for id := range found {
		return id, len(found) == 1
	}
	return 0, false
}

// same reports whether a subject of a verdict is the one that is looked for.
func same(want, have recording.Subject) bool {
	switch {
	case want.Kind != have.Kind && (want.Local == "" || have.Local == ""):
		return want.PID != 0 && want.PID == have.PID || want.Comm != "" && want.Comm == have.Comm && want.Netns == have.Netns
	case want.Netns != have.Netns, want.Device != have.Device, want.Cgroup != have.Cgroup, want.Proto != have.Proto:
		return false
	case want.Local != "" && recording.Port(want.Local) == recording.Port(have.Local):
		return true
	case want.Remote != "" && want.Remote == have.Remote:
		return true
	case want.Local != "" || want.Remote != "":
		return want.Comm != "" && want.Comm == have.Comm
	}
	return want.Comm == have.Comm
}
