package loaded

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"snag/internal/shown"
	"snag/internal/units"
	"snag/load"
	"snag/load/shape"
)

// Sweep is what came of many rates, and of the experiments that followed.
type Sweep struct {
	Target string
	Points []shape.Point
	Read   load.Reading
}

// Text writes what the shape says first, then each rate with a bar for its p50.
func (s Sweep) Text(w io.Writer) {
	for i, line := range s.Read.Sentences {
		if i == 0 {
			line = s.Target + ": " + line
		}
		fmt.Fprint(w, shown.Wrapped(line, wide))
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
			why = append(why, a.Why)
			note = fmt.Sprintf(" (%d)", len(why))
		}
		if a.P50 == 0 {
			fmt.Fprintf(w, "%12s%12s%10s%10s  no answer%s\n", first, units.Count(a.Answers), "-", "-", note)
			continue
		}
		fmt.Fprintf(w, "%12s%12s%10s%10s  %s%s\n", first, units.Count(a.Answers), short(a.P50), short(a.P99), scale.bar(a.P50), note)
	}
	fmt.Fprintln(w, "\ntimes are since each request was sent: medians of the repeats")
	for i, text := range why {
		fmt.Fprint(w, shown.Wrapped(fmt.Sprintf("(%d) not the service's figures: %s", i+1, text), wide))
	}
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

// JSON is one object; all times are in seconds.
func (s Sweep) JSON(w io.Writer) error {
	points := []map[string]any{}
	for _, p := range s.Points {
		points = append(points, map[string]any{"rate_asked": p.Rate, "connections": p.Conns, "size": p.Size, "rate": p.Answers, "sent": p.Sent, "lost": p.Lost, "open": p.Open,
			"mean": p.Mean, "p50": p.P50, "p90": p.P90, "p99": p.P99, "since_due_p50": orNull(p.DueP50), "since_due_p99": orNull(p.DueP99), "own_lag_p50": p.Lag, "not_the_services": p.Why})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"version": 1, "target": s.Target, "points": points, "reading": s.Read})
}

// Limit is the answer to --until.
type Limit struct {
	Target string
	load.Limit
	Plan load.Plan
}

// Text says the rate first, and then what a service does with more.
func (l Limit) Text(w io.Writer) {
	fmt.Fprint(w, shown.Wrapped(l.Target+": "+l.sentence(), wide))
	for _, r := range []*load.Result{l.AtHolds, l.AtBreaks} {
		if r != nil {
			fmt.Fprintf(w, "  at %s requests/s: p50 %s, p99 %s, %s answers/s%s\n", units.Count(r.Plan.Rate), quantile(r, 50), quantile(r, 99), units.Count(r.Rate()), lostText(r))
		}
	}
	for _, a := range l.Advice() {
		fmt.Fprint(w, shown.Wrapped(a, wide))
	}
}

func lostText(r *load.Result) string {
	if r.Behind > 0 {
		return fmt.Sprintf(", %s still waiting at the end", units.Count(float64(r.Behind)))
	}
	return ""
}

func quantile(r *load.Result, q float64) string {
	return short(float64(r.FromDue.ValueAtQuantile(q)) / 1e9)
}

func (l Limit) sentence() string {
	switch {
	case l.NotOurs != "" && l.Holds > 0:
		return fmt.Sprintf("%s at %s requests/s, and snag could not measure more: %s", l.Bound, units.Count(l.Holds), l.NotOurs)
	case l.NotOurs != "":
		return fmt.Sprintf("could not be measured: %s", l.NotOurs)
	case l.Holds == 0:
		return fmt.Sprintf("%s does not hold at %s requests/s, the lowest rate that was tried", l.Bound, units.Count(l.Breaks))
	case l.Breaks == 0:
		return fmt.Sprintf("%s holds at %s requests/s, the highest rate that was tried", l.Bound, units.Count(l.Holds))
	}
	return fmt.Sprintf("%s up to %s requests/s; not at %s", l.Bound, units.Count(l.Holds), units.Count(l.Breaks))
}

// JSON is one object; all times are in seconds.
func (l Limit) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"version": 1, "target": l.Target, "until": l.Bound.String(), "connections": l.Plan.Conns,
		"holds_at": orNull(l.Holds), "breaks_at": orNull(l.Breaks), "runs": l.Runs, "most_answers": l.Saturated, "not_the_services": l.NotOurs, "advice": l.Advice()})
}

func orNull(v float64) any {
	if v == 0 {
		return nil
	}
	return v
}
