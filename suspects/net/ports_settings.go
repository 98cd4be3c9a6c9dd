package net

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

// timeWait is how long a closed connection holds its port, s (include/net/tcp.h,
// TCP_TIMEWAIT_LEN); fixed in the kernel.
const timeWait = 60

// widest range of ports for connections: those above the privileged.
const widest = 65535 - 1024 + 1

// portsSettings: a wider range where the rate of connections fits into it, as each
// holds its port for a minute; else the ports in TIME-WAIT are taken again.
func portsSettings(s *scene.Scene, r *recording.Recording, netns uint64, p recording.Ports, most float64, c failedConnects) (set []suspect.Setting, calls []suspect.Call) {
	perSecond := (c.opened + c.failed) / max(1, s.Window.Length(s.Window.End).Seconds())
	need := max(float64(p.InUse), perSecond*timeWait+float64(p.InUse-p.TimeWait))
	who := recording.Subject{}
	if len(c.who) > 0 {
		who = suspect.WhoseCall(c.who[0])
	}
	calls = []suspect.Call{{Who: who, Do: "keep the connections to " + p.Remote + " open (a pool with keep-alive)", Why: fmt.Sprintf("%.0f connections per second are made to it, and each holds its port for %d s after it was closed", perSecond, timeWait)}}
	reuse, known := measure.Sysctl(r, netns, "net.ipv4.tcp_tw_reuse")
	const either = "ports"
	if need < 0.8*widest && widest > 1.2*most {
		set = append(set, suspect.Setting{Kind: "sysctl", Name: "net.ipv4.ip_local_port_range", At: suspect.InSpace(netns), Value: "1024 65535", Either: either,
			Why:  fmt.Sprintf("%s ports are too few for %.0f connections per second to %s × %d s, and %s that are open: %s", units.Count(most), perSecond, p.Remote, timeWait, units.Count(float64(p.InUse-p.TimeWait)), units.Count(need)),
			Risk: listenersRisk(s, r, netns)})
	}
	if (!known || reuse != 1) && 2*p.TimeWait >= p.InUse {
		set = append(set, suspect.Setting{Kind: "sysctl", Name: "net.ipv4.tcp_tw_reuse", At: suspect.InSpace(netns), Value: "1", Either: either,
			Why:  fmt.Sprintf("%s of %s ports towards %s are in TIME-WAIT: a new connection may take one after a second", units.Count(float64(p.TimeWait)), units.Count(float64(p.InUse)), p.Remote),
			Risk: "none that is known while both ends send timestamps (net.ipv4.tcp_timestamps)"})
	}
	return set, calls
}

// listenersRisk names the servers whose ports the wider range takes in: one that is
// restarted may find its port taken.
func listenersRisk(s *scene.Scene, r *recording.Recording, netns uint64) string {
	text, ok := r.FactOf("net.ipv4.ip_local_port_range", netns)
	if !ok {
		text, _ = r.FactOf("net.ipv4.ip_local_port_range", 0)
	}
	var low, high int
	if _, err := fmt.Sscan(text, &low, &high); err != nil {
		low, high = 32768, 60999
	}
	var ports []int
	for _, k := range s.Sockets {
		port, err := strconv.Atoi(recording.Port(k.First().Local))
		if err == nil && k.Listening() && k.First().Netns == netns && port >= 1024 && (port < low || port > high) && !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	if len(ports) == 0 {
		return "a server that binds a port above 1023 later may find it taken: net.ipv4.ip_local_reserved_ports keeps it free"
	}
	slices.Sort(ports)
	var names []string
	for _, port := range ports[:min(len(ports), 8)] {
		names = append(names, strconv.Itoa(port))
	}
	more := ""
	if n := len(ports) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "servers listen on " + strings.Join(names, ", ") + more + ": restarted, they may find it taken; net.ipv4.ip_local_reserved_ports keeps it free"
}
