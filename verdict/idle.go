package verdict

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
)

// Of the processes of a target that answered nobody, this much of one CPU is work that can be
// held up; less is a program that waits for its first client.
const leastWork = 0.01

// idle says of a target that nothing was asked of it in the window: then nobody can tell whether
// anybody would be held up. It is "" where something was, and where no target was named.
func (v *Verdict) idle() string {
	n := v.scope
	if n == nil || len(n.streams) > 0 {
		return "" // a stream of which nothing comes is a symptom
	}
	if v.Ledger != nil {
		for _, p := range v.Ledger.Parties {
			if p.Demand > 0 && n.ours(p) {
				return ""
			}
		}
	}
	if slices.ContainsFunc(v.Scene.Sockets, n.moved) || n.worked(v.Recording) {
		return ""
	}
	return fmt.Sprintf("%s had no requests, moved no data and did hardly any work in these %s", v.Target(), units.Seconds(v.Recording.Length()))
}

// moved reports whether data came or went on a socket of the target. Datagrams are counted by
// socket nowhere: those that wait in it, or were dropped, were some.
func (n *scope) moved(k *scene.Socket) bool {
	if !n.part[k.ID] || k.Listening() {
		return false
	}
	if k.First().Proto != "tcp" {
		return k.DropsGrew() > 0 || slices.ContainsFunc(k.Rows, func(row recording.Socket) bool { return row.RecvQ > 0 || row.SendQ > 0 })
	}
	a, b := k.First().TCP, k.LastTCP()
	return a != nil && b != nil && (b.BytesReceived > a.BytesReceived || b.BytesSent > a.BytesSent)
}

// worked reports whether the target's processes used the CPUs, or waited for a disk.
func (n *scope) worked(r *recording.Recording) bool {
	used := 0.0
	for _, p := range n.s.Processes {
		if !n.pids[p.Subject.PID] {
			continue
		}
		used += p.Last().CPU - p.First().CPU
		if slices.ContainsFunc(p.Rows, func(row recording.Process) bool { return row.State == "D" }) {
			return true
		}
	}
	return used >= leastWork*r.Length().Seconds()
}
