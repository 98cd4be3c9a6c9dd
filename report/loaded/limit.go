package loaded

import (
	"encoding/json"
	"fmt"
	"io"

	"snag/internal/shown"
	"snag/internal/units"
	"snag/load"
)

// Limit is the answer to --until.
type Limit struct {
	Target string
	load.Limit
	Null *load.Result // of an empty server; nil: none was asked
}

// Text says the rate first, and then what a service does with more.
func (l Limit) Text(w io.Writer) {
	fmt.Fprint(w, shown.Wrapped(l.Target+": "+l.sentence(), wide))
	if l.Ended != "" {
		fmt.Fprint(w, shown.Wrapped(fmt.Sprintf("ENDED EARLY, after %s: %s", units.Plural(l.Runs, "run"), l.Ended), wide))
	}
	for _, r := range []*load.Result{l.AtHolds, l.AtBreaks} {
		if r != nil {
			fmt.Fprintf(w, "  %s: p50 %s, p99 %s, %s answers/s%s\n", l.at(r), quantile(r, 50), quantile(r, 99), units.Count(r.Rate()), lostText(r))
		}
	}
	fmt.Fprint(w, emptyServer(l.Null))
	for _, a := range l.Advice() {
		fmt.Fprint(w, shown.Wrapped(a, wide))
	}
}

// at is where a run was.
func (l Limit) at(r *load.Result) string {
	if l.Every > 0 {
		return fmt.Sprintf("%s, %s requests/s", units.Plural(r.Plan.Conns, "session"), units.Count(r.Plan.Rate))
	}
	return "at " + units.Count(r.Plan.Rate) + " requests/s"
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
	at, most := "at", "the highest rate that was tried"
	least := "the lowest rate that was tried"
	if l.Every > 0 {
		at, most, least = "with", "the most that were tried", "the fewest that were tried"
	}
	switch {
	case l.NotOurs != "" && l.Holds > 0:
		return fmt.Sprintf("%s %s %s, and snag could not measure more: %s", l.Bound, at, l.Shown(l.Holds), l.NotOurs)
	case l.NotOurs != "":
		return fmt.Sprintf("could not be measured: %s", l.NotOurs)
	case l.Holds == 0 && l.Breaks == 0:
		return fmt.Sprintf("where %s holds is not known", l.Bound)
	case l.Holds == 0:
		return fmt.Sprintf("%s does not hold %s %s, %s", l.Bound, at, l.Shown(l.Breaks), least)
	case l.Breaks == 0:
		return fmt.Sprintf("%s holds %s %s, %s", l.Bound, at, l.Shown(l.Holds), most)
	case l.Every > 0:
		return fmt.Sprintf("it carries %.0f to %s: %s holds with %.0f and not with %.0f", l.Holds, l.Shown(l.Breaks), l.Bound, l.Holds, l.Breaks)
	}
	return fmt.Sprintf("%s up to %s; not at %s", l.Bound, l.Shown(l.Holds), units.Count(l.Breaks))
}

// JSON is one object; all times are in seconds.
func (l Limit) JSON(w io.Writer) error {
	out := map[string]any{"version": 1, "target": l.Target, "until": l.Bound.String(), "connections": l.Plan.Conns,
		"holds_at": orNull(l.Holds), "breaks_at": orNull(l.Breaks), "runs": l.Runs, "most_answers": l.Saturated, "not_the_services": l.NotOurs, "ended_early": l.Ended, "advice": l.Advice()}
	if s := l.Every.Seconds(); s > 0 { // the search was over sessions, and each sends a message in that time
		out["connections"], out["every"] = nil, s
		out["sessions_hold"], out["sessions_break"] = orNull(l.Holds), orNull(l.Breaks)
		out["holds_at"], out["breaks_at"] = orNull(l.Holds/s), orNull(l.Breaks/s)
	}
	if l.Null != nil {
		out["empty_server"] = seconds(l.Null.FromSent)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
