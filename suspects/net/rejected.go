package net

import (
	"fmt"
	"slices"
	"time"

	"snag/recording"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// rejectedWithin is how long after a rule that rejects has dropped a packet its sender has the
// reset. The rows of both are of a second.
const rejectedWithin = 2 * time.Second

// resetBehind are connections of this host that were open, lost a packet to netfilter, and were
// reset then: "reject with tcp reset" takes one packet to end each.
func resetBehind(r *recording.Recording, rows []recording.Drop) (out []recording.Reset) {
	for _, x := range r.Resets {
		if x.Dir != "received" || x.State != "ESTABLISHED" || slices.ContainsFunc(r.Resets, func(y recording.Reset) bool { // the peer's own word
			return y.Dir == "sent" && y.Local == x.Remote && y.Remote == x.Local
		}) {
			continue
		}
		if slices.ContainsFunc(rows, func(d recording.Drop) bool {
			return d.Proto == "tcp" && d.Src == x.Local && d.Dst == x.Remote && d.T.Sub(x.T).Abs() <= rejectedWithin
		}) {
			out = append(out, x)
		}
	}
	return out
}

// rejected says so.
func rejected(resets []recording.Reset) []suspect.Evidence {
	n := uint64(0)
	for _, x := range resets {
		n += x.N
	}
	if n == 0 {
		return nil
	}
	return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: float64(n), Unit: "resets", Source: source.Tracepoint("tcp:tcp_receive_reset", source.Resets), Origin: "resets",
		Text: fmt.Sprintf("a packet of an established connection was dropped, and the connection was reset, though its peer sent no reset: the rule rejects (last: %s %s → %s)", resets[len(resets)-1].Comm, resets[len(resets)-1].Local, resets[len(resets)-1].Remote)}}
}
