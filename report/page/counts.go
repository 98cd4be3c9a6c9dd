package page

import (
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
	}
}

// aSecond is the rate of what was counted in a row's second, or in the part of it that was
// measured.
func aSecond(n uint64, measured float64) float64 {
	if measured > 0 {
		return float64(n) / measured
	}
	return float64(n)
}

// selectsFlow tells whether a row of a flow is one that the selector asks for: by
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
