package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"snag/internal/cli"
	"snag/internal/units"
	"snag/remedies/ablate"
	"snag/remedies/ablate/figure"
	"snag/remedies/plan"
)

// notes are what the table can't say.
func (a *ablation) notes(out io.Writer) {
	r := a.result
	said := map[string]bool{}
	for _, s := range r.Settings {
		if len(s.Either) == 0 {
			continue
		}
		var names []string
		for _, i := range s.Either {
			names = append(names, a.label(i))
		}
		text := "Either is enough, and one alone is not missed: " + strings.Join(names, ", ")
		if !said[text] {
			said[text] = true
			fmt.Fprintln(out, text+".")
		}
	}
	a.untold(out)
	if r.Together {
		fmt.Fprintln(out, "The single effects add up to more than all have together: some of those settings need each other.")
	}
	if r.Idle {
		fmt.Fprintf(out, "%s was 0 in every run, with all settings on and with all off: this load does not show what is to be tested.\n", a.measured())
	}
	if every := a.flags.rhythm.Every; every > a.flags.length.Seconds() && a.perRun() {
		fmt.Fprintf(out, "Before, %s: runs of %s hit it or miss it. --for %ds has each run see it.\n", a.flags.rhythm.Text, units.Seconds(a.flags.length), int(math.Ceil(every)))
	}
	if d := r.Drift; r.Drifted && math.Abs(d[1]-d[0]) > a.flags.smallestRatio*math.Abs(r.On.Mean) {
		fmt.Fprintf(out, "The machine drifted: %s with all on at first, %s at last. Each comparison is within its own round, so this does not favour any.\n", a.number(d[0]), a.number(d[1]))
	}
	if r.Cut {
		fmt.Fprintln(out, "It ended before all was measured: --within and --rounds give it more time.")
	}
	var idle []string
	for _, c := range a.all {
		if c.Change == nil && strings.Join(strings.Fields(c.Now), " ") != strings.Join(strings.Fields(c.Switch.On), " ") {
			idle = append(idle, bareName(c.Switch.Target))
		}
		if c.Needs != "" {
			fmt.Fprintf(out, "%s needs %s: unless the load does that in each run, what was measured does not hold for it.\n", bareName(c.Switch.Target), c.Needs)
		}
	}
	if len(idle) > 0 {
		fmt.Fprintf(out, "Not in force before this: on this host %d of %d have another value than the file says (%s).\n", len(idle), len(a.all), some(idle))
	}
}

// perRun reports whether --for says how long a run measures.
func (a *ablation) perRun() bool {
	return a.bench.Figure.Kind == figure.Counter || a.bench.Figure.Kind == figure.Symptom
}

// some are the first of many names.
func some(names []string) string {
	if len(names) > 4 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", len(names)-3)
	}
	return strings.Join(names, ", ")
}

// untold says of the settings that could not be told why, how large an effect they
// still may have, and what would tell.
func (a *ablation) untold(out io.Writer) {
	type reason struct {
		names     []string
		most      float64 // the largest effect that their intervals leave open
		low, high int     // rounds that would do
	}
	by := map[string]*reason{}
	var keys []string
	for _, s := range order(a.result.Settings) {
		if s.Verdict != ablate.CantTell {
			continue
		}
		r := by[s.Why]
		if r == nil {
			r = &reason{low: math.MaxInt}
			by[s.Why], keys = r, append(keys, s.Why)
		}
		r.names = append(r.names, a.label(s.Index))
		r.most = max(r.most, math.Abs(s.Interval.Low), math.Abs(s.Interval.High))
		if s.More > 0 {
			r.low, r.high = min(r.low, s.More), max(r.high, s.More)
		}
	}
	for _, why := range keys {
		r := by[why]
		fmt.Fprintf(out, "Can't tell %s: %s.", some(r.names), why)
		if r.most > 0 && r.most < 10 {
			fmt.Fprintf(out, " Any effect of theirs is at most %s.", units.Percent(r.most))
		}
		switch {
		case r.high == 0:
		case r.high > 20*a.flags.rounds:
			fmt.Fprintf(out, " More rounds would not decide it within a reasonable time: a steadier or longer load would, or a larger --smallest.")
		case r.low == r.high:
			fmt.Fprintf(out, " About %d rounds would decide it (--rounds), or a steadier load.", r.high)
		default:
			fmt.Fprintf(out, " About %d to %d rounds would decide it (--rounds), or a steadier load.", r.low, r.high)
		}
		fmt.Fprintln(out)
	}
}

func (a *ablation) settingsLeft(out io.Writer) {
	if len(a.left) == 0 {
		return
	}
	fmt.Fprintln(out, "Not tested:")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, l := range a.left {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", strings.TrimSuffix(l.Name, " in netns "+a.flags.netns), l.From, l.Why)
	}
	_ = w.Flush()
	fmt.Fprintln(out)
}

// pruned is a plan of only those that do something: of those of which any is enough,
// the first.
func (a *ablation) pruned() *plan.Plan {
	p := &plan.Plan{Version: plan.Version, Snag: cli.Version, Made: plan.At(time.Now()), For: plan.Cause{Text: "what is left of " + a.source + " after snag tune ablate"}}
	if a.plan != nil {
		copied := *a.plan
		p, p.Changes = &copied, nil
	}
	taken := map[int]bool{}
	for _, s := range order(a.result.Settings) {
		switch {
		case s.Verdict == ablate.DidIt:
		case s.Verdict == ablate.EitherOf && !slices.ContainsFunc(s.Either, func(i int) bool { return taken[i] }):
		default:
			continue
		}
		taken[s.Index] = true
		for _, j := range a.factors[s.Index] {
			c := a.all[j]
			n := plan.Change{ID: c.Switch.ID, Target: c.Switch.Target, Now: c.Switch.Off, Then: c.Switch.On, Needs: c.Needs, With: c.Switch.With}
			if c.Change != nil {
				n = *c.Change
				n.With = c.Switch.With
			}
			n.Why = strings.TrimSpace(n.Why + fmt.Sprintf(" (measured: %s %s, with it %s)", a.measured(), a.effect(s), a.interval(s)))
			p.Changes = append(p.Changes, n)
		}
	}
	return p
}
