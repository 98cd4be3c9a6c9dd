package readers

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"path/filepath"
	"slices"

	"snag/recording"
)

// mostFlows of two recordings are compared: each bounds the difference of the clocks, and the next ones hardly more.
const mostFlows = 200

// flowEnds is a connection by its addresses, as one end has them.
type flowEnds struct{ local, remote netip.AddrPort }

// endsOf reads the addresses of a socket; false of one that is not connected, or on a loopback.
func endsOf(k recording.Socket) (flowEnds, bool) {
	local, err := netip.ParseAddrPort(k.Local)
	remote, err2 := netip.ParseAddrPort(k.Remote)
	if err != nil || err2 != nil || remote.Port() == 0 {
		return flowEnds{}, false
	}
	plain := func(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }
	f := flowEnds{plain(local), plain(remote)}
	return f, !f.remote.Addr().IsLoopback()
}

func (f flowEnds) other() flowEnds { return flowEnds{f.remote, f.local} }

// recorded are the ties of recordings of several hosts in which both ends of a connection are seen. The kernel counts
// what an end has sent, what of it was acknowledged and what it received: who has received more than the other end had
// sent was looked at later, and who has received less than what was acknowledged to the other, earlier.
func (h hostClocks) recorded(given given) (ties []tie) {
	type looked struct {
		path, clock string
		flows       map[flowEnds][]recording.Socket
	}
	var all []looked
	for _, path := range given.recordings {
		if clock := h.of[path]; clock != "" {
			all = append(all, looked{path, clock, flowsOf(given.open[path])})
		}
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.clock == b.clock {
				continue
			}
			if low, high, n := aheadBy(a.flows, b.flows); n > 0 {
				ties = append(ties, tie{a: a.clock, b: b.clock, low: low, high: high,
					by: fmt.Sprintf("the bytes of %s in both %s and %s", connections(n), filepath.Base(a.path), filepath.Base(b.path))})
			}
		}
	}
	return ties
}

// flowsOf are the connections of a recording with their rows. Those of which it has both ends are none that it shares
// with another host.
func flowsOf(r *recording.Recording) map[flowEnds][]recording.Socket {
	out := map[flowEnds][]recording.Socket{}
	for _, k := range r.Sockets {
		if at, ok := endsOf(k); ok && k.Proto == "tcp" && k.TCP != nil {
			out[at] = append(out[at], k)
		}
	}
	for at := range out {
		if _, both := out[at.other()]; both {
			delete(out, at)
			delete(out, at.other())
		}
	}
	return out
}

// aheadBy is how far b's clock is ahead of a's, s, by n connections that both have; n is 0 where they contradict each
// other, as the same addresses may be other connections.
func aheadBy(a, b map[flowEnds][]recording.Socket) (low, high float64, n int) {
	low, high = math.Inf(-1), math.Inf(1)
	var shared []flowEnds
	for at := range a {
		if len(b[at.other()]) > 0 {
			shared = append(shared, at)
		}
	}
	slices.SortFunc(shared, func(x, y flowEnds) int {
		return cmp.Or(x.local.Compare(y.local), x.remote.Compare(y.remote))
	})
	for _, at := range shared[:min(len(shared), mostFlows)] {
		before := [2]float64{low, high}
		for _, x := range a[at] {
			for _, y := range b[at.other()] {
				apart := y.T.Sub(x.T).Seconds()
				if received(x, y) || acknowledged(x, y) { // x was looked at later
					low = max(low, apart)
				}
				if received(y, x) || acknowledged(y, x) {
					high = min(high, apart)
				}
			}
		}
		if before != [2]float64{low, high} {
			n++
		}
	}
	if low > high || math.IsInf(low, -1) && math.IsInf(high, 1) {
		return 0, 0, 0
	}
	return low, high, n
}

// received reports that an end had received more than the other had sent: it was looked at later.
func received(later, earlier recording.Socket) bool {
	return later.TCP.BytesReceived > earlier.TCP.BytesSent
}

// acknowledged reports that more of an end's data had been acknowledged than the other had received: it was looked at
// later. The kernel counts the SYN as a byte that was acknowledged.
func acknowledged(later, earlier recording.Socket) bool {
	return later.TCP.BytesAcked > earlier.TCP.BytesReceived+1
}
