package trial

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"snag/load"
	"snag/load/elimination"
)

// timesOf are the quantiles of some times.
func timesOf(all []time.Duration) (t elimination.Times) {
	if t.N = len(all); t.N == 0 {
		return t
	}
	return elimination.Times{N: t.N, P50: quantile(all, 50), P90: quantile(all, 90), Most: quantile(all, 100)}
}

// quantile is the least time that so many percent do not exceed, in seconds.
func quantile(all []time.Duration, percent int) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, (len(sorted)*percent+99)/100-1)].Seconds()
}

func timesIn(h *hdrhistogram.Histogram) (t elimination.Times) {
	if t.N = int(h.TotalCount()); t.N == 0 {
		return t
	}
	at := func(q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1e9 }
	return elimination.Times{N: t.N, P50: at(50), P90: at(90), Most: at(100)}
}

func askedOf(r *load.Result) elimination.Asked {
	return elimination.Asked{Times: timesIn(r.FromSent), Failed: r.LostAll(), Why: notTheServices(r)}
}

// smallLag and less is no part of what is called slow, however fast the answers are.
const smallLag = 5 * time.Millisecond

// notTheServices is why the figures are snag's own, where that makes a difference here.
func notTheServices(r *load.Result) string {
	if time.Duration(r.Lag.ValueAtQuantile(50)) < smallLag && r.Busy <= mostBusy {
		return ""
	}
	return r.Honest()
}

const mostBusy = 0.9
