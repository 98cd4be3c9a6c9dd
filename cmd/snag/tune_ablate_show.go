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

	"snag/internal/sorting"
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

// bareName is a setting's name where all are of one namespace.
func bareName(t plan.Target) string {
	t.Netns = ""
	return strings.TrimPrefix(t.String(), "sysctl ")
}

// label is a factor's name in a sentence.
func (a *ablation) label(i int) string {
	var all []string
	for _, j := range a.factors[i] {
		all = append(all, bareName(a.all[j].Switch.Target))
	}
	return strings.Join(all, " + ")
}

// order is the settings as they are shown: what does something first, by its effect.
func order(all []ablate.Setting) []ablate.Setting {
	rank := map[ablate.Verdict]int{ablate.DidIt: 0, ablate.EitherOf: 1, ablate.DoesHurt: 2, ablate.CantTell: 3, ablate.DoesNone: 4}
	out := slices.Clone(all)
	sorting.StableBy(out, func(x, y ablate.Setting) int {
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
	fmt.Fprintf(out, "%s: %s settings under %s\n%s, %s: %s with all off, %s with all on", a.source, units.Count(float64(len(a.all))), load,
		a.measured(), better, a.level(r.Off), a.level(r.On))
	if r.Whole != (ablate.Interval{}) {
		fmt.Fprintf(out, ": %s (%s to %s)", signed(r.Whole.Effect), signed(r.Whole.Low), signed(r.Whole.High))
	}
	fmt.Fprintf(out, "\nAn effect of less than %s counts as none.\n\n", units.Percent(a.flags.smallestRatio))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VERDICT\tSETTING\tEFFECT\tFIGURE OFF → ON\tVALUE OFF → ON")
	grouped := false
	for _, s := range order(r.Settings) {
		for k, j := range a.factors[s.Index] {
			c := a.all[j]
			verdict, interval, effect := a.verdict(s), a.interval(s), a.effect(s)
			if len(s.Group) > 0 {
				effect, grouped = effect+" *", true
			}
			if k > 0 {
				verdict, interval, effect = "", "", "(only together)"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s → %s\n", verdict, bareName(c.Switch.Target), interval, effect, short(c.Switch.Off), short(c.Switch.On))
		}
	}
	_ = w.Flush()
	if grouped {
		fmt.Fprintln(out, "* switched together with others that do nothing either, or could not be measured")
	}
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
	case len(v) > 32:
		return strings.ToValidUTF8(v[:29], "") + "..."
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
	if math.Abs(p) > 999 { // such a bound is no figure any more
		return map[bool]string{true: ">+999 %", false: "<−999 %"}[p > 0]
	}
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
	}
	return string(s.Verdict)
}
