package page

import (
	"fmt"
	"math"
	"time"

	"snag/recording"
	"snag/scene"
)

// eachCount gives every count of a table that a selector stands for, with the
// line it belongs to; of is what a mean is taken over, 0 for a sum.
func (b *builder) eachCount(s selector, each func(t recording.Time, label string, v, of float64)) {
	flow := func(netns uint64, pid int, local, remote string) bool {
		return b.selectsFlow(s, netns, pid, local, remote)
	}
	switch table(s.name) {
	case "drops":
		for _, d := range b.r.Drops {
			id, tied := s.netns()
			if tied && b.namespace(d.Netns) != id || s.labels["reason"] != "" && d.Reason != s.labels["reason"] || d.Benign && s.labels["reason"] == "" {
				continue
			}
			each(d.T, d.Reason+" at "+d.Place, float64(d.N), 0)
		}
	case "retransmits":
		for _, x := range b.r.Retransmits {
			if flow(x.Netns, x.PID, x.Local, x.Remote) {
				each(x.T, "", float64(x.N), 0)
			}
		}
	case "resets":
		for _, x := range b.r.Resets {
			if flow(x.Netns, x.PID, x.Local, x.Remote) {
				each(x.T, x.Dir, float64(x.N), 0)
			}
		}
	case "holds":
		for _, x := range b.r.Holds {
			if flow(x.Netns, x.PID, x.Local, x.Remote) {
				v := aSecond(x.Held, x.Measured)
				if s.name == "holds.hold_max" {
					v = x.HoldMax
				}
				each(x.T, "", v, 0)
			}
		}
	case "connections":
		for _, x := range b.r.Connections {
			if flow(x.Netns, x.PID, x.Local, x.Remote) {
				values := map[string]uint64{"connections.opened": x.Opened, "connections.closed": x.Closed, "connections.failed": x.Failed, "connections.short": x.Short}
				each(x.T, "", float64(values[s.name]), 0)
			}
		}
	case "turns":
		for _, x := range b.r.Turns {
			if !flow(x.Netns, x.PID, x.Local, x.Remote) {
				continue
			}
			switch s.name {
			case "turns.n":
				each(x.T, x.Role, aSecond(x.N, x.Measured), 0)
			case "turns.max":
				each(x.T, x.Role, x.Max, 0)
			case "turns.failed":
				each(x.T, x.Role, aSecond(x.Failed, x.Measured), 0)
			default:
				each(x.T, x.Role, x.Sum, float64(x.N))
			}
		}
	case "errors":
		for _, x := range b.r.CallErrors {
			if s.pid() == 0 || s.pid() == x.PID {
				each(x.T, x.Call+" "+x.Errno, float64(x.N), 0)
			}
		}
	case "queries":
		for _, x := range b.r.Queries {
			if s.pid() != 0 && s.pid() != x.PID {
				continue
			}
			n := x.Asked
			if s.name == "queries.gave_up" {
				n = x.GaveUp
			}
			each(x.T, x.Remote, aSecond(n, x.Measured), 0)
		}
	case "events":
		for _, x := range b.r.Events {
			if x.Kind == s.labels["kind"] && (s.pid() == 0 || s.pid() == x.Subject.PID) {
				b.eachSecondOf(x, s.name == "events.n", each)
			}
		}
	default:
		b.eachOfThreads(s, each)
	}
}

// eachSecondOf calls each with the part of each second that an event lasted, or once with a
// count of one.
func (b *builder) eachSecondOf(x recording.Event, counted bool, each func(t recording.Time, label string, v, of float64)) {
	if counted {
		each(x.T, x.Attrs["signal"], 1, 0)
		return
	}
	end := x.End
	if end == 0 {
		end = b.s.Window.End
	}
	end = min(end, b.r.Window().End) // what is told of other times is not drawn, and may be of any
	for t := max(x.T, b.r.Window().Start); t < end; {
		next := min(end, b.r.Window().Start.Add(time.Duration(math.Floor(b.since(t))+1)*time.Second))
		if next <= t {
			return
		}
		each(t, "", next.Sub(t).Seconds(), 0)
		t = next
	}
}

// eachOfThreads calls each with the rows of what the threads of a process were found at: the
// sum of a second's looks or waits is how many of them were, on average.
func (b *builder) eachOfThreads(s selector, each func(t recording.Time, label string, v, of float64)) {
	switch table(s.name) {
	case "thread_states":
		for _, x := range b.r.ThreadStates {
			if x.PID == s.pid() && x.Looks > 0 {
				each(x.T, foundAt(x), float64(x.N)/float64(x.Looks), 0)
			}
		}
	case "offcpu":
		for _, x := range b.r.OffCPU {
			if x.PID == s.pid() {
				each(x.T, x.Reason, x.Sum, 0)
			}
		}
	case "lock_waits":
		for _, x := range b.r.LockWaits {
			if x.PID == s.pid() && x.Kind != "condition" {
				each(x.T, fmt.Sprintf("lock at 0x%x", x.Address), x.Sum, 0)
			}
		}
	}
}

// foundAt is a state of threads in words.
func foundAt(x recording.ThreadStates) string {
	switch {
	case x.Call != "" && x.Remote != "":
		return x.Call + " " + x.Remote
	case x.Call != "":
		return x.Call
	case x.State == "R":
		return "running or ready"
	}
	return "state " + x.State
}

// aSecond is the rate of what was counted in a row's second, or in the part of it that was
// measured.
func aSecond(n uint64, measured float64) float64 {
	if measured > 0 {
		return float64(n) / measured
	}
	return float64(n)
}

// selectsFlow reports whether a row of a flow is one that the selector asks for: by
// both addresses, by the local port, or by the process.
func (b *builder) selectsFlow(s selector, netns uint64, pid int, local, remote string) bool {
	if id, tied := s.netns(); tied && b.namespace(netns) != id {
		return false
	}
	local, remote = scene.Address(local), scene.Address(remote)
	if want, ok := s.labels["local"]; ok {
		return recording.Port(local) == recording.Port(want) && (s.labels["remote"] == "" || s.labels["remote"] == remote || recording.Host(s.labels["remote"]) == remote)
	}
	if port, ok := s.labels["port"]; ok {
		return recording.Port(local) == port || recording.Port(remote) == port
	}
	return s.pid() != 0 && s.pid() == pid
}

// namespace: 0, where the kernel side did not tell, is the own one.
func (b *builder) namespace(id uint64) uint64 {
	if id == 0 {
		return b.r.Manifest.Netns
	}
	return id
}
