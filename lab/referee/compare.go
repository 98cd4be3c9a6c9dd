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

// Compare reports what the clients of the faulty run noticed, beside the healthy run's.
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
	for _, n := range notices(healthy, faulty) {
		h.What = append(h.What, n.text)
	}
	h.Noticed = len(h.What) > 0
	return h
}

// notice is one thing that clients noticed: a line of the table above, in words.
type notice struct {
	thing
	text string
}

// notices are the things by which clients that measured the one figures before tell that
// something is wrong now.
func notices(before, now Figures) (out []notice) {
	note := func(t thing, format string, args ...any) { out = append(out, notice{t, fmt.Sprintf(format, args...)}) }
	if now.Requests > 0 && before.Requests > 0 {
		if grew(before.P50, now.P50, p50Most) {
			note(p50, "p50 %s, %s before", ms(now.P50), ms(before.P50))
		}
		late := len(now.Longest) - sort.SearchFloat64s(now.Longest, twice*before.P99)
		if before.Requests >= enough && late >= max(tail, now.Requests/100) && grew(before.P99, now.P99, p99Most) {
			note(p99, "p99 %s, %s before", ms(now.P99), ms(before.P99))
		}
		if now.Failed-before.Failed >= share {
			note(failed, "%.1f %% of the requests failed", 100*now.Failed)
		}
		if now.Lost-before.Lost >= share {
			note(lost, "%.1f %% of the requests were not answered", 100*now.Lost)
		}
	}
	if now.Datagrams > 0 && now.DatagramsLost-before.DatagramsLost >= share {
		note(datagrams, "%.1f %% of the datagrams were lost", 100*now.DatagramsLost)
	}
	if before.Delivered > 0 && now.Delivered < before.Delivered/twice {
		note(stream, "a stream came at %.0f per second, %.0f before", now.Delivered, before.Delivered)
	}
	if now.Silence >= freeze && now.Silence >= longer*before.Silence {
		note(silence, "nothing came for %.1f s (%.2f s before)", now.Silence, before.Silence)
	}
	if now.Requests == 0 && before.Requests > 0 && now.Silence == 0 {
		note(none, "no request was made: %d before", before.Requests)
	}
	return out
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
