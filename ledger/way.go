package ledger

import (
	"math"

	"snag/recording"
	"snag/scene"
)

// way is what the caller's own sockets and probes tell of the way to a destination.
type way struct {
	minRTT, rtt, rto float64 // s
	resent           float64 // segments, and those that this host dropped
	resending        float64 // s that connections were found with data that was lost and not acknowledged yet
	long             float64 // s of calls that took long enough to have waited for a timer
	held             float64 // s that small writes waited for an acknowledgement (Nagle)
	shut             float64 // s in which the peer's window was closed
}

// leastTimer is the least that a sender waits before it sends again what was lost
// (TCP_RTO_MIN); a turn's bucket is as wide as half of its bound.
const leastTimer = 0.13 // s

// spurious, s: where queues alone make the round trip longer than the least timer (TCP_RTO_MIN),
// timers fire for what is still on its way, and nothing was lost.
const spurious = 0.2

func wayOf(s *scene.Scene, r *recording.Recording, v *scene.Service) way {
	w := way{minRTT: math.Inf(1)}
	n := 0.0
	first := v.Rows[0]
	for _, k := range s.Sockets {
		f := k.First()
		if f.Proto != "tcp" || f.Netns != first.Netns || f.Remote != first.Remote {
			continue
		}
		for i, row := range k.Rows {
			if i > 0 && resends(row) && resends(k.Rows[i-1]) {
				w.resending += row.T.Sub(k.Rows[i-1].T).Seconds()
			}
			if row.TCP != nil && row.TCP.RTT > 0 {
				w.minRTT = min(w.minRTT, row.TCP.MinRTT)
				w.rtt += row.TCP.RTT
				w.rto += row.TCP.RTO
				n++
			}
		}
		if a, b := f.TCP, k.LastTCP(); a != nil && b != nil {
			w.shut += max(0, b.RwndLimited-a.RwndLimited)
		}
	}
	if n == 0 {
		w.minRTT = 0
	} else {
		w.rtt, w.rto = w.rtt/n, w.rto/n
	}
	for _, row := range r.Retransmits {
		if row.Netns == first.Netns && row.Remote == first.Remote {
			w.resent += float64(row.N)
		}
	}
	// What this host drops on its way out is lost, too: its kernel does not trace that as sent again.
	for _, d := range r.Drops {
		if d.Netns == first.Netns && d.Dst == first.Remote && d.Proto == "tcp" && !d.Benign {
			w.resent += float64(d.N)
		}
	}
	hist, _ := scene.Histogram(v.Rows)
	for i, calls := range hist {
		if at := recording.TurnBound(i); at >= leastTimer {
			w.long += float64(calls) * at
		}
	}
	for _, row := range r.Holds {
		if row.Netns == first.Netns && row.Remote == first.Remote {
			w.held += row.HoldSum
		}
	}
	return w
}

// resends tells of a look at a socket that what it sent was lost: it waits for a timer, or for its
// own host, which drops what it sends (then nothing is on its way, and the data is still there).
// Of the sockets of a capture only what was on its way is known.
func resends(k recording.Socket) bool {
	t := k.TCP
	return t != nil && !k.Wire && k.SendQ > 0 && (t.Lost > 0 || t.Backoff > 0 || t.Unacked == 0 && t.SndWnd > 0)
}

// bookCall books a caller's demand. server is how much of it the destination had open
// itself, request-seconds; negative where it is on another host and nobody can tell.
func (p *Party) bookCall(w way, where string, server float64) {
	left := p.Demand
	take := func(a Account, seconds float64) {
		if seconds = min(left, max(0, seconds)); seconds > 0 {
			p.add(Entry{Account: a, Where: where, Seconds: seconds})
			left -= seconds
		}
	}
	n := float64(p.Answered)
	if server >= 0 {
		take(Call, server)
	}
	take(Path, n*w.minRTT)
	take(Nagle, w.held)
	take(Window, w.shut)
	queued := n * (w.rtt - w.minRTT)
	if w.rtt-w.minRTT >= spurious {
		take(Queue, queued)
		queued = 0
	}
	// A FIN that is sent again keeps no call waiting.
	take(Loss, max(min(w.resent*w.rto, w.long), w.resending))
	take(Queue, queued)
	if server >= 0 {
		take(Unseen, left)
		return
	}
	take(Call, left)
}
