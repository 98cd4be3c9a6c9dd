package sockets

import (
	"time"

	"snag/probes/sockets/diag"
)

// How many sockets of watched processes on which nothing waits are asked for in a tick: more take
// turns. Rows are written of no more than 150 in a second.
const (
	mostCalm           = 1000
	mostCalmContinuous = 256
)

// askFor are the sockets of the last dumps that are asked for one by one, by namespace.
func (r *running) askFor(now time.Time) map[uint64]map[diag.Kind][][48]byte {
	out := map[uint64]map[diag.Kind][][48]byte{}
	anew := r.watchChanged() // else those of watched processes are no longer quiet
	turns, n, calm := r.turns(), 0, 0
	for cookie, h := range r.socks {
		if !h.alone || h.level == quiet && now.After(h.until) && (!anew || !r.isWatched(&h.last)) {
			continue
		}
		if h.calm && now.After(h.until) {
			calm++
			if !itsTurn(cookie, r.ticks, turns) {
				continue
			}
		}
		if n == mostWatch {
			continue
		}
		m := out[h.last.Netns]
		if m == nil {
			m = map[diag.Kind][][48]byte{}
			out[h.last.Netns] = m
		}
		k := diag.Kind{Family: h.family, Proto: diag.TCP4.Proto}
		m[k] = append(m[k], h.id)
		h.askedFor = r.ticks
		n++
	}
	r.calm = calm
	return out
}

// watchChanged reports whether a process came to be watched since this was asked last.
func (r *running) watchChanged() bool {
	before := r.watched
	r.watched = r.env.Watch.Added()
	return r.watched != before
}

// turns is in how many ticks each calm socket is asked for once.
func (r *running) turns() int {
	most := mostCalm
	if r.env.Continuous {
		most = mostCalmContinuous
	}
	return max(1, (r.calm+most-1)/most)
}

// itsTurn reports whether a socket is asked for in that tick. Cookies are given out one after the other.
func itsTurn(cookie uint64, tick, turns int) bool {
	return (cookie+uint64(tick))%uint64(turns) == 0 //nolint:gosec // ticks and turns are positive
}

// wasAskedFor reports whether the dump of this tick would have had a socket if it still existed.
func (r *running) wasAskedFor(h *history, now time.Time, everything bool) bool {
	switch {
	case everything:
		return true
	case h.alone:
		return h.askedFor == r.ticks
	case h.last.Proto == unixProto && h.last.State != "LISTEN":
		return h.level > quiet || !now.After(h.until)
	}
	return true
}
