package referee

import (
	"fmt"
	"sort"
	"strings"
)

// What counts as noticed. Twice, and the shares, are the definition of the exam; the floors
// keep the noise of a machine out, on which a p99 doubles by itself: they stand against
// what two healthy runs of the same draw differ by (docs/score.md).
const (
	twice   = 2.0
	share   = 0.01
	freeze  = 0.5   // seconds without an answer or a picture
	longer  = 3.0   // times the longest silence of the healthy run
	p50Most = 0.001 // seconds that the p50 must grow by
	p99Most = 0.020 // seconds that the p99 must grow by: as long as another program keeps a CPU
	enough  = 100   // requests that a p99 is of
	tail    = 5     // requests beyond twice the healthy p99
)

// Harm is what the clients noticed.
type Harm struct {
	Noticed bool     `json:"noticed"`
	What    []string `json:"what,omitempty"` // a sentence each, with both numbers
	Void    string   `json:"void,omitempty"` // why the draw tells nothing
}

// Sick is the share of failed or lost requests from which the healthy run is no
// comparison: the service did not work.
const sick = 0.05

// Compare tells what the clients of the faulty run noticed, beside the healthy run's.
func Compare(healthy, faulty Figures) Harm {
	var h Harm
	switch {
	case healthy.Requests == 0 && healthy.Datagrams == 0 && healthy.Delivered == 0:
		h.Void = "the clients of the healthy run measured nothing"
		return h
	case healthy.Failed > sick || healthy.Lost > sick:
		h.Void = fmt.Sprintf("%.0f %% of the healthy run's requests failed, %.0f %% were lost", 100*healthy.Failed, 100*healthy.Lost)
		return h
	}
	note := func(format string, args ...any) { h.What = append(h.What, fmt.Sprintf(format, args...)) }
	if faulty.Requests > 0 && healthy.Requests > 0 {
		if grew(healthy.P50, faulty.P50, p50Most) {
			note("p50 %s, %s before", ms(faulty.P50), ms(healthy.P50))
		}
		late := len(faulty.Longest) - sort.SearchFloat64s(faulty.Longest, twice*healthy.P99)
		if healthy.Requests >= enough && late >= max(tail, faulty.Requests/100) && grew(healthy.P99, faulty.P99, p99Most) {
			note("p99 %s, %s before", ms(faulty.P99), ms(healthy.P99))
		}
		if faulty.Failed-healthy.Failed >= share {
			note("%.1f %% of the requests failed", 100*faulty.Failed)
		}
		if faulty.Lost-healthy.Lost >= share {
			note("%.1f %% of the requests were not answered", 100*faulty.Lost)
		}
	}
	if faulty.Datagrams > 0 && faulty.DatagramsLost-healthy.DatagramsLost >= share {
		note("%.1f %% of the datagrams were lost", 100*faulty.DatagramsLost)
	}
	if healthy.Delivered > 0 && faulty.Delivered < healthy.Delivered/twice {
		note("a stream came at %.0f per second, %.0f before", faulty.Delivered, healthy.Delivered)
	}
	if faulty.Silence >= freeze && faulty.Silence >= longer*healthy.Silence {
		note("nothing came for %.1f s (%.2f s before)", faulty.Silence, healthy.Silence)
	}
	if faulty.Requests == 0 && healthy.Requests > 0 && faulty.Silence == 0 {
		note("no request was made: %d before", healthy.Requests)
	}
	h.Noticed = len(h.What) > 0
	return h
}

func grew(before, now, atLeast float64) bool { return now >= twice*before && now-before >= atLeast }

func ms(seconds float64) string { return fmt.Sprintf("%.1f ms", seconds*1e3) }

// String is what was noticed, in one line.
func (h Harm) String() string {
	switch {
	case h.Void != "":
		return "void: " + h.Void
	case !h.Noticed:
		return "not noticed"
	}
	return strings.Join(h.What, "; ")
}
