// Package loaded shows what came of a load: as text and as JSON.
package loaded

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"snag/internal/shown"
	"snag/internal/sorting"
	"snag/internal/units"
	"snag/load"
)

// wide is a terminal's usual width, in columns.
const wide = 80

// Loaded is a run and the calibration before it.
type Loaded struct {
	Result *load.Result
	Null   *load.Result // nil: there was none
}

// quantiles that are shown, in percent.
var quantiles = []struct {
	name string
	at   float64
}{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}, {"max", 100}}

// Text writes the answer first, then the table.
func (l Loaded) Text(w io.Writer) {
	r := l.Result
	if r.Plan.Bandwidth > 0 {
		bandwidthText(w, r)
		return
	}
	fmt.Fprint(w, shown.Wrapped(l.sentence(), wide))
	if why := r.Honest(); why != "" {
		fmt.Fprint(w, shown.Wrapped("NOT THE SERVICE'S FIGURES: "+why, wide))
	}
	if r.FromSent.TotalCount() > 0 {
		fmt.Fprintf(w, "\n%-22s", "time of an answer")
		for _, q := range quantiles {
			fmt.Fprintf(w, "%10s", q.name)
		}
		fmt.Fprintln(w)
		if r.Plan.Rate > 0 && r.FromDue.TotalCount() > 0 {
			row(w, "  since it was due", r.FromDue)
		}
		row(w, "  since it was sent", r.FromSent)
		if l.Null != nil && l.Null.FromSent.TotalCount() > 0 {
			row(w, "  of an empty server", l.Null.FromSent)
		}
		if r.Plan.Rate > 0 {
			row(w, "  snag itself late by", r.Lag)
		}
	}
	fmt.Fprintf(w, "\n%.2f requests open on average, on %s%s\n", r.Open, units.Plural(r.Plan.Conns, "connection"), upTo(r))
	for _, line := range streams(r) {
		fmt.Fprint(w, shown.Wrapped(line, wide))
	}
	if r.Behind > 0 {
		fmt.Fprintf(w, "%s requests were due and not sent when the time was over: %s\n", units.Count(float64(r.Behind)), busy(r))
		if measured, predicted := r.Growth(); r.Sessions == nil && predicted > 0.01 && measured > 0.01 {
			fmt.Fprintf(w, "each second adds %s to the wait (%s by arithmetic: %s answers per second of %s asked)\n", short(measured), short(predicted), units.Count(r.Rate()), units.Count(r.Plan.Rate))
		}
	}
	if r.Plan.Deadline > 0 && r.Done > 0 {
		late := r.Late + r.LostAll() + r.Behind
		fmt.Fprintf(w, "%s of the requests were not answered within %s\n", units.Percent(float64(late)/float64(r.Sent+r.Behind)), r.Plan.Deadline)
	}
	for _, line := range sessions(r) {
		fmt.Fprint(w, shown.Wrapped(line, wide))
	}
	if r.Closed > 0 {
		fmt.Fprintf(w, "the service closed the connection after %s: the time to make the next one is part of the time since a request was due\n", units.Plural(int(r.Closed), "answer"))
	}
	for _, line := range losses(r) {
		fmt.Fprintln(w, line)
	}
	for _, a := range r.Advice() {
		fmt.Fprint(w, shown.Wrapped(a, wide))
	}
}

func row(w io.Writer, name string, h *hdrhistogram.Histogram) {
	fmt.Fprintf(w, "%-22s", name)
	for _, q := range quantiles {
		fmt.Fprintf(w, "%10s", units.Short(time.Duration(h.ValueAtQuantile(q.at)).Seconds()))
	}
	fmt.Fprintln(w)
}

func (l Loaded) sentence() string {
	r := l.Result
	head := fmt.Sprintf("%s: %s answers per second", r.Plan.Target.Name, units.Count(r.Rate()))
	if r.Plan.Rate > 0 {
		head += fmt.Sprintf(" of %s asked", units.Count(r.Plan.Rate))
	}
	if r.Done == 0 {
		return head
	}
	h := r.FromDue
	if r.Plan.Rate == 0 {
		h = r.FromSent
	}
	return head + fmt.Sprintf(", half within %s, 99 in 100 within %s", units.Short(time.Duration(h.ValueAtQuantile(50)).Seconds()), units.Short(time.Duration(h.ValueAtQuantile(99)).Seconds()))
}

// losses are what came to nothing, by kind, the most first, and answers that are not what was asked for.
func losses(r *load.Result) []string {
	out := lostKinds(r)
	if r.Failed > 0 {
		out = append(out, fmt.Sprintf("%s: answers that are errors", units.Count(float64(r.Failed))))
	}
	if r.Unasked > 0 {
		out = append(out, fmt.Sprintf("%s: answers without a request, or that came too late", units.Count(float64(r.Unasked))))
	}
	if r.Odd > 0 {
		out = append(out, fmt.Sprintf("%s: answers of another size (--reply)", units.Count(float64(r.Odd))))
	}
	if r.Early > 0 {
		out = append(out, fmt.Sprintf("%s: answers before the request was sent whole", units.Count(float64(r.Early))))
	}
	return out
}

func lostKinds(r *load.Result) (out []string) {
	kinds := sorting.Collect(maps.Keys(r.Lost), func(a, b load.Kind) int { return int(r.Lost[b] - r.Lost[a]) })
	for _, k := range kinds {
		out = append(out, fmt.Sprintf("%s: %s", units.Count(float64(r.Lost[k])), k))
	}
	return out
}

// JSON is one object; all times are in seconds.
func (l Loaded) JSON(w io.Writer) error {
	r := l.Result
	lost := map[string]int64{}
	for k, n := range r.Lost {
		lost[string(k)] = n
	}
	out := map[string]any{
		"version": 1, "target": r.Plan.Target.Name, "connections": r.Plan.Conns, "seconds": r.Took.Seconds(),
		"rate_asked": r.Plan.Rate, "rate": r.Rate(), "sent": r.Sent, "answered": r.Done, "errors": r.Failed, "unasked": r.Unasked, "other_size": r.Odd, "early": r.Early, "closed": r.Closed, "lost": lost,
		"open": r.Open, "behind": r.Behind, "busy": r.Busy, "not_the_services": r.Honest(),
		"since_due": seconds(r.FromDue), "since_sent": seconds(r.FromSent), "own_lag": seconds(r.Lag),
	}
	if r.Plan.Streams > 1 {
		out["streams"] = streamsJSON(r)
	}
	if r.Plan.Deadline > 0 {
		out["deadline"], out["late"] = r.Plan.Deadline.Seconds(), r.Late
	}
	if r.Sessions != nil {
		out["sessions"] = sessionsJSON(r.Sessions)
	}
	if r.Plan.Bandwidth > 0 {
		out["bandwidth"] = bandwidthJSON(r)
	}
	if r.Behind > 0 {
		out["growth"], out["growth_predicted"] = r.Growth()
	}
	if a := r.Advice(); a != nil {
		out["advice"] = a
	}
	if l.Null != nil {
		out["empty_server"] = seconds(l.Null.FromSent)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func seconds(h *hdrhistogram.Histogram) map[string]float64 {
	if h.TotalCount() == 0 {
		return nil // not measured is not zero
	}
	out := map[string]float64{"mean": h.Mean() / 1e9}
	for _, q := range quantiles {
		out[strings.ReplaceAll(q.name, ".", "")] = float64(h.ValueAtQuantile(q.at)) / 1e9
	}
	return out
}
