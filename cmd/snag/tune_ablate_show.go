package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"snag/internal/units"
	"snag/remedies/ablate"
	"snag/remedies/ablate/candidate"
	"snag/remedies/plan"
)

// ablateSetting is a setting in the JSON.
type ablateSetting struct {
	Target plan.Target `json:"-"`
	Name   string      `json:"name"`
	From   string      `json:"from"`
	Off    string      `json:"off"`
	On     string      `json:"on"`
	Now    string      `json:"now"`
	// Study is the entry of study.settings that it is switched by.
	Study int `json:"study"`
}

// ablateDocument is what --json prints.
type ablateDocument struct {
	Source   string           `json:"source"`
	Load     string           `json:"load,omitempty"`
	Measure  string           `json:"measure"`
	Unit     string           `json:"unit,omitempty"`
	Higher   bool             `json:"higherIsBetter"`
	Smallest float64          `json:"smallest"`
	Seconds  float64          `json:"seconds"`
	Settings []ablateSetting  `json:"settings"`
	Study    *ablate.Result   `json:"study"`
	Left     []candidate.Left `json:"notTested,omitempty"`
	Restored bool             `json:"restored"`
}

func (a *ablation) document() ablateDocument {
	d := ablateDocument{Source: a.source, Load: a.flags.load, Measure: a.bench.Figure.Name, Unit: a.bench.Figure.Unit, Higher: a.bench.Figure.Higher,
		Smallest: a.flags.smallestRatio, Seconds: a.took.Seconds(), Study: a.result, Left: a.left, Restored: a.back != "", Settings: []ablateSetting{}}
	for i, factor := range a.factors {
		for _, j := range factor {
			c := a.all[j]
			d.Settings = append(d.Settings, ablateSetting{Name: nameOf(c), From: c.From, Off: c.Switch.Off, On: c.Switch.On, Now: c.Now, Study: i})
		}
	}
	return d
}

func nameOf(c candidate.Candidate) string {
	return strings.TrimPrefix(c.Switch.Target.String(), "sysctl ")
}

// label is a factor's name in a sentence.
func (a *ablation) label(i int) string {
	var all []string
	for _, j := range a.factors[i] {
		t := a.all[j].Switch.Target
		t.Netns = ""
		all = append(all, strings.TrimPrefix(t.String(), "sysctl "))
	}
	return strings.Join(all, " + ")
}

// order is the settings as they are shown: what does something first, by its effect.
func order(all []ablate.Setting) []ablate.Setting {
	rank := map[ablate.Verdict]int{ablate.DidIt: 0, ablate.EitherOf: 1, ablate.DoesHurt: 2, ablate.CantTell: 3, ablate.DoesNone: 4}
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(x, y ablate.Setting) int {
		return cmp.Or(cmp.Compare(rank[x.Verdict], rank[y.Verdict]), cmp.Compare(math.Abs(y.Interval.Effect), math.Abs(x.Interval.Effect)))
	})
	return out
}

func (a *ablation) write(out io.Writer) {
	r := a.result
	better := "less is better"
	if a.bench.Figure.Higher {
		better = "more is better"
	}
	load := "the live traffic"
	if a.bench.Load != nil {
		load = a.bench.Load.String()
	}
	fmt.Fprintf(out, "%s: %s settings under %s\n%s, %s: %s with all on, %s with all off\n\n", a.source, units.Count(float64(len(a.all))), load,
		a.measured(), better, a.level(r.On), a.level(r.Off))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tOFF → ON\tWITH IT\tINTERVAL\t")
	for _, s := range order(r.Settings) {
		for k, j := range a.factors[s.Index] {
			c := a.all[j]
			name := c.Switch.Target
			name.Netns = ""
			effect, interval, verdict := a.effect(s), a.interval(s), a.verdict(s)
			if k > 0 {
				effect, interval, verdict = "", "", "  (only together)"
			}
			fmt.Fprintf(w, "%s\t%s → %s\t%s\t%s\t%s\n", strings.TrimPrefix(name.String(), "sysctl "), short(c.Switch.Off), short(c.Switch.On), effect, interval, verdict)
		}
	}
	_ = w.Flush()
	fmt.Fprintln(out)
	a.notes(out)
	a.settingsLeft(out)
	fmt.Fprintf(out, "%s runs in %s rounds, %s. ", units.Count(float64(r.Runs)), units.Count(float64(r.Rounds)), units.Seconds(a.took.Round(time.Second)))
	if a.back != "" {
		fmt.Fprintf(out, "The %s.\n", a.back)
	} else {
		fmt.Fprintln(out, "NOT all settings are what they were before.")
	}
}

// short cuts a value for the table; blanks are one.
func short(v string) string {
	v = strings.Join(strings.Fields(v), " ")
	switch {
	case v == "":
		return "(not set)"
	case len(v) > 28:
		return strings.ToValidUTF8(v[:25], "") + "..."
	}
	return v
}

func (a *ablation) measured() string {
	switch name := a.bench.Figure.Name; name {
	case "time":
		return "Wall time"
	case "exit":
		return "Failed runs"
	default:
		return name
	}
}

func (a *ablation) level(l ablate.Level) string {
	text := "no figure"
	if l.Runs > 0 {
		text = a.number(l.Mean)
	}
	if l.Failed > 0 {
		text += fmt.Sprintf(" (%d of %d runs failed)", l.Failed, l.Failed+l.Runs)
	}
	return text
}

// number writes a figure for people.
func (a *ablation) number(v float64) string {
	switch a.bench.Figure.Unit {
	case "s":
		return units.Seconds(time.Duration(v * float64(time.Second)))
	case "/s":
		return units.Rate(v)
	case "bit/s":
		for _, u := range []string{"bit/s", "kbit/s", "Mbit/s"} {
			if v < 1000 {
				return fmt.Sprintf("%.3g %s", v, u)
			}
			v /= 1000
		}
		return fmt.Sprintf("%.3g Gbit/s", v)
	}
	if a.bench.Figure.Name == "exit" {
		return units.Percent(v)
	}
	return strings.TrimSpace(strconv.FormatFloat(v, 'g', 4, 64) + " " + a.bench.Figure.Unit)
}

// effect is the figure without it and with it.
func (a *ablation) effect(s ablate.Setting) string {
	switch {
	case s.Fails && !s.Seen:
		return "fails without"
	case !s.Seen:
		return "-"
	}
	return a.number(s.Without) + " → " + a.number(s.With)
}

func (a *ablation) interval(s ablate.Setting) string {
	if s.Open {
		return "open"
	}
	return fmt.Sprintf("%s (%s to %s)", signed(s.Interval.Effect), signed(s.Interval.Low), signed(s.Interval.High))
}

// signed is a ratio with its sign: +67 %.
func signed(v float64) string {
	p := 100 * v
	text := strconv.FormatFloat(p, 'f', 0, 64)
	if math.Abs(p) < 9.95 {
		text = strconv.FormatFloat(p, 'f', 1, 64)
	}
	if p > 0 {
		text = "+" + text
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && f == 0 {
		text = "0"
	}
	return strings.Replace(text, "-", "−", 1) + " %"
}

func (a *ablation) verdict(s ablate.Setting) string {
	switch s.Verdict {
	case ablate.DidIt:
		return "DID IT"
	case ablate.DoesHurt:
		return "HURTS"
	case ablate.EitherOf:
		if len(s.Either) == 0 {
			return "ENOUGH ALONE"
		}
		return "EITHER OF " + strconv.Itoa(len(s.Either))
	case ablate.DoesNone:
		if len(s.Group) > 0 {
			return fmt.Sprintf("does nothing (in a group of %d)", len(s.Group))
		}
		return "does nothing"
	}
	text := "can't tell: " + s.Why
	if s.More > 0 && s.More > s.Rounds {
		text += fmt.Sprintf("; about %d rounds would do", s.More)
	}
	return text
}

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
	if r.Together {
		fmt.Fprintln(out, "The single effects add up to more than all have together: some of those settings need each other.")
	}
	if r.Idle {
		fmt.Fprintf(out, "%s was 0 in every run, with all settings on and with all off: this load does not show what is to be tested.\n", a.measured())
	}
	if d := r.Drift; r.On.Mean != 0 && math.Abs(d[1]-d[0]) > a.flags.smallestRatio*math.Abs(r.On.Mean) {
		fmt.Fprintf(out, "The machine drifted: %s with all on at first, %s at last. Each comparison is within its own round, so this does not favour any.\n", a.number(d[0]), a.number(d[1]))
	}
	if r.Cut {
		fmt.Fprintln(out, "It ended before all was told: --within and --rounds give it more time.")
	}
	for _, c := range a.all {
		if c.Now != "" && strings.Join(strings.Fields(c.Now), " ") != strings.Join(strings.Fields(c.Switch.On), " ") && a.plan == nil {
			fmt.Fprintf(out, "%s is not in force on this host: %s says %s, and it is %s.\n", nameOf(c), c.From, short(c.Switch.On), short(c.Now))
		}
		if c.Needs != "" {
			fmt.Fprintf(out, "%s needs %s: unless the load does that in each run, what was measured does not hold for it.\n", nameOf(c), c.Needs)
		}
	}
}

func (a *ablation) settingsLeft(out io.Writer) {
	if len(a.left) == 0 {
		return
	}
	fmt.Fprintln(out, "Not tested:")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, l := range a.left {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", l.Name, l.From, l.Why)
	}
	_ = w.Flush()
	fmt.Fprintln(out)
}

// pruned is a plan of only those that do something: of those of which any is enough,
// the first.
func (a *ablation) pruned() *plan.Plan {
	p := &plan.Plan{Version: plan.Version, Snag: version, Made: time.Now().UTC().Truncate(time.Second), For: plan.Cause{Text: "what is left of " + a.source + " after snag tune ablate"}}
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
