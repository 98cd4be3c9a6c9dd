package net

import (
	"cmp"
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

// synSettings: cookies let real clients in when the backlog is full. Where they are
// on, net.ipv4.tcp_max_syn_backlog is not looked at (net/ipv4/tcp_input.c,
// tcp_conn_request), and the flood must be stopped before the host.
func synSettings(r *recording.Recording, netns uint64, most recording.HalfOpen, backlog int) (set []suspect.Setting, calls []suspect.Call) {
	if v, ok := measure.Sysctl(r, netns, "net.ipv4.tcp_syncookies"); ok && v == 0 {
		set = append(set, suspect.Setting{Kind: "sysctl", Name: "net.ipv4.tcp_syncookies", AtLeast: true, At: suspect.InSpace(netns), Value: "1",
			Why:  fmt.Sprintf("%s half-open connections hold the places that real clients need; with cookies a SYN needs none", units.Count(float64(most.N))),
			Risk: "connections made by a cookie lose window scaling and SACK where the client sends no timestamps"})
	}
	if backlog > 0 && most.N > backlog {
		want := int(powerOfTwo(headroom * float64(most.N)))
		calls = append(calls, suspect.Call{Who: recording.Subject{Name: "the listener on " + most.Local}, Do: fmt.Sprintf("listen(fd, %d), with net.core.somaxconn as high", min(want, 65535)),
			Why: fmt.Sprintf("its backlog is %s, and %s were half open at once", units.Count(float64(backlog)), units.Count(float64(most.N)))})
	}
	calls = append(calls, suspect.Call{Who: recording.Subject{Name: "who runs the network"}, Do: "drop or limit SYNs to " + most.Local + " before they come here", Why: sourcesOf(most) + " send them"})
	return set, calls
}

// neighbourSettings is a table twice as long, as the count of refusals does not tell how
// many neighbours there are.
func neighbourSettings(knob, limit string, fulls float64) []suspect.Setting {
	return []suspect.Setting{{Kind: "sysctl", Name: knob, AtLeast: true, Value: fmt.Sprint(doubled(limit, 1024)),
		Why:  fmt.Sprintf("the table had no room for a neighbour %s times at %s", units.Count(fulls), cmp.Or(limit, "the default of 1024")),
		Risk: "about 400 bytes of memory each"}}
}

// windowSettings is a buffer of twice rate × round trip, as half of it is for overhead
// (tcp_adv_win_scale). The rate that the path could take is not known while the window
// holds it: four times the present one, 100 Mbit/s at the least.
func windowSettings(r *recording.Recording, k *scene.Socket, rate, rtt float64) (set []suspect.Setting, calls []suspect.Call) {
	if k == nil {
		return nil, []suspect.Call{{Who: recording.Subject{Name: "the receiver's host"}, Do: "net.ipv4.tcp_rmem (third value), or no SO_RCVBUF in its program", Why: "its window holds the sender back"}}
	}
	netns := k.First().Netns
	target := max(12.5e6, 4*rate)
	need := roundUp(2 * target * rtt)
	most, ok := mostReceive(r, netns)
	if ok && float64(k.Last().RcvBuf) < 0.99*most {
		return nil, []suspect.Call{{Who: suspect.WhoseCall(k.Subject), Do: "no setsockopt(fd, SOL_SOCKET, SO_RCVBUF, …): it turns the kernel's own sizing off (net/core/sock.c, SOCK_RCVBUF_LOCK)",
			Why: fmt.Sprintf("its buffer stands at %s, and the kernel would let it grow to %s", units.Bytes(float64(k.Last().RcvBuf)), units.Bytes(most))}}
	}
	text, ok := r.FactOf("net.ipv4.tcp_rmem", netns)
	if !ok {
		text, ok = r.FactOf("net.ipv4.tcp_rmem", 0)
	}
	f := strings.Fields(text)
	if !ok || len(f) != 3 || need <= most {
		return nil, nil
	}
	return []suspect.Setting{{Kind: "sysctl", Name: "net.ipv4.tcp_rmem", AtLeast: true, At: suspect.InSpace(netns), Value: fmt.Sprintf("%s %s %.0f", f[0], f[1], need),
		Why:   fmt.Sprintf("2 × %s × %s round trip; it is held at %s by a buffer of %s", units.LineRate(target), units.Lasting(rtt), units.LineRate(rate), units.Bytes(most)),
		Risk:  "up to that much memory for each connection with a slow reader",
		Needs: "new connections: those that are open keep their limit"}}, nil
}
