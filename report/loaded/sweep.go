package loaded

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"snag/internal/shown"
	"snag/internal/units"
	"snag/load"
	"snag/load/shape"
)

// Sweep is what came of many rates, and of the experiments that followed.
type Sweep struct {
	Target string
	load.Swept
	Read load.Reading
	Null *load.Result // of an empty server; nil: none was asked
}

// Text writes what the shape says first, then each rate with a bar for its p50.
func (s Sweep) Text(w io.Writer) {
	for i, line := range s.Read.Sentences {
		if i == 0 {
			line = s.Target + ": " + line
		}
		fmt.Fprint(w, shown.Wrapped(line, wide))
	}
	if s.Ended != "" {
		fmt.Fprint(w, shown.Wrapped(s.early(), wide))
	}
	all := shape.Join(s.Points)
	scale := scaleOf(all)
	var why []string
	bySize := sizesOf(all)
	for i, a := range all {
		if i == 0 || headOf(a, bySize) != headOf(all[i-1], bySize) {
			first := "requests/s"
			if bySize {
				first = "bytes"
			}
			fmt.Fprintf(w, "\n%s\n%12s%12s%10s%10s  p50, from %s to %s\n", headOf(a, bySize), first, "answers/s", "p50", "p99", short(scale.low), short(scale.high))
		}
		first := units.Count(a.Rate)
		if bySize {
			first = units.Count(float64(a.Size))
		}
		note := ""
		if a.Repeats == 0 && a.Why != "" {
			text := whyOf(a)
			if !slices.Contains(why, text) {
				why = append(why, text)
			}
			note = fmt.Sprintf(" (%d)", slices.Index(why, text)+1)
		}
		if a.P50 == 0 {
			fmt.Fprintf(w, "%12s%12s%10s%10s  %s%s\n", first, answersOf(a), "-", "-", nothingOf(a), note)
			continue
		}
		fmt.Fprintf(w, "%12s%12s%10s%10s  %s%s\n", first, units.Count(a.Answers), short(a.P50), short(a.P99), scale.bar(a.P50), note)
	}
	fmt.Fprintln(w, "\ntimes are since each request was sent: medians of the repeats")
	fmt.Fprint(w, emptyServer(s.Null))
	for i, text := range why {
		fmt.Fprint(w, shown.Wrapped(fmt.Sprintf("(%d) %s", i+1, text), wide))
	}
	for _, a := range s.Read.Advice {
		fmt.Fprint(w, shown.Wrapped(a, wide))
	}
}

// early says that not all steps are in the points.
func (s Sweep) early() string {
	return fmt.Sprintf("ENDED EARLY, after %d of %s: %s", len(s.Points), units.Plural(s.Of, "step"), s.Ended)
}

// emptyServer is what measuring takes on this host; "": it was not measured.
func emptyServer(r *load.Result) string {
	if r == nil || r.FromSent.TotalCount() == 0 {
		return ""
	}
	at := func(q float64) string { return short(float64(r.FromSent.ValueAtQuantile(q)) / 1e9) }
	text := fmt.Sprintf("an empty server takes %s (p99 %s), at %s requests/s on %s: that is measuring itself", at(50), at(99), units.Count(r.Plan.Rate), units.Plural(r.Plan.Conns, "connection"))
	return shown.Wrapped(text, wide)
}

func whyOf(a shape.At) string {
	if a.Failed {
		return "the run failed: " + a.Why
	}
	return "not the service's figures: " + a.Why
}

// answersOf is the rate of the answers; a run that failed has none.
func answersOf(a shape.At) string {
	if a.Failed {
		return "-"
	}
	return units.Count(a.Answers)
}

// nothingOf is why there is no time of an answer.
func nothingOf(a shape.At) string {
	if a.Failed {
		return "not measured"
	}
	return "no answer"
}

// sizesOf reports whether the sizes differ at one rate: then they are the rows.
func sizesOf(all []shape.At) bool {
	for i := 1; i < len(all); i++ {
		if all[i].Rate != all[0].Rate {
			return false
		}
	}
	return len(all) > 1 && all[0].Size != all[len(all)-1].Size
}

// headOf is what a table is of.
func headOf(a shape.At, bySize bool) string {
	head := "on " + units.Plural(a.Conns, "connection")
	switch {
	case bySize:
		return head + ", " + units.Count(a.Rate) + " requests/s"
	case a.Size > 0:
		return head + ", messages of " + units.Bytes(float64(a.Size))
	}
	return head
}

func short(s float64) string { return units.Short(s) }

// scale is logarithmic: the times at different rates differ by orders of magnitude.
type scale struct{ low, high float64 }

const barWidth = 28

func scaleOf(all []shape.At) (s scale) {
	s.low = math.Inf(1)
	for _, a := range all {
		if a.P50 > 0 {
			s.low, s.high = min(s.low, a.P50), max(s.high, a.P50)
		}
	}
	if math.IsInf(s.low, 1) {
		return scale{1e-3, 1}
	}
	// A few per cent of difference are no picture.
	if s.high < 10*s.low {
		s.high = 10 * s.low
	}
	return s
}

// part is where a value is between the ends, 0 to 1.
func (s scale) part(v float64) float64 {
	return min(max(math.Log(v/s.low)/math.Log(s.high/s.low), 0), 1)
}

func (s scale) bar(v float64) string {
	return strings.Repeat("█", 1+int(math.Round(s.part(v)*(barWidth-1))))
}

// JSON is one object; all times are in seconds. What was not measured is null.
func (s Sweep) JSON(w io.Writer) error {
	points := []map[string]any{}
	for _, p := range s.Points {
		points = append(points, pointJSON(p))
	}
	out := map[string]any{"version": 1, "target": s.Target, "points": points, "steps": s.Of, "ended_early": s.Ended, "reading": s.Read}
	if s.Null != nil {
		out["empty_server"] = seconds(s.Null.FromSent)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func pointJSON(p shape.Point) map[string]any {
	out := map[string]any{"rate_asked": p.Rate, "connections": p.Conns, "size": p.Size, "rate": p.Answers, "sent": p.Sent, "lost": p.Lost, "open": p.Open,
		"mean": orNull(p.Mean), "p50": orNull(p.P50), "p90": orNull(p.P90), "p99": orNull(p.P99), "since_due_p50": orNull(p.DueP50), "since_due_p99": orNull(p.DueP99), "own_lag_p50": p.Lag,
		"not_the_services": p.Why, "since_due_not_the_services": p.DueWhy, "failed": ""}
	if p.Failed {
		for _, name := range []string{"rate", "sent", "lost", "open", "own_lag_p50"} {
			out[name] = nil
		}
		out["not_the_services"], out["failed"] = "", p.Why
	}
	return out
}

func orNull(v float64) any {
	if v == 0 {
		return nil
	}
	return v
}
