package profile

import (
	"fmt"
	"io"
	"strings"

	"snag/internal/shown"
	"snag/internal/units"
)

// DiffOptions are of the tables that a comparison is written as.
type DiffOptions struct {
	TextOptions
	All   bool // also what chance does as well
	NameA string
	NameB string
}

// WriteText writes what changed, the greatest certain change first, and how much of
// both can't be compared.
func (d *Diff) WriteText(w io.Writer, o DiffOptions) error {
	var b strings.Builder
	for _, side := range []struct {
		letter, name string
		p            *Profile
		looks        float64
	}{{"A", o.NameA, d.A, d.LooksA}, {"B", o.NameB, d.B, d.LooksB}} {
		t := side.p.Top(1)
		text := fmt.Sprintf("%s  %s: %s %s", side.letter, clean(side.name), units.Count(float64(side.p.samples())), plural(side.p.samples(), "sample"))
		if side.p.Event != Samples {
			text += " of " + clean(eventName(side.p.Event))
		}
		if side.p.Seconds > 1 { // files without times have one second
			text += fmt.Sprintf(" in %.1f s", side.p.Seconds)
		}
		text += fmt.Sprintf(", worth %s independent samples", units.Count(side.looks))
		if t.Frames < 0.9 && t.NoStack < 1 {
			text += fmt.Sprintf("; %.0f %% of its frames have a name", 100*t.Frames)
		}
		if t.NoStack > 0 {
			text += fmt.Sprintf("; %.1f %% has no stack", 100*t.NoStack)
		}
		o.paragraph(&b, text)
	}
	if d.A.samples() == 0 || d.B.samples() == 0 {
		o.paragraph(&b, "one of them has no samples: there is nothing to compare")
		_, err := io.WriteString(shown.To(w), b.String())
		return err
	}
	d.table(&b, o, "itself", d.Self)
	d.table(&b, o, "with what it calls", d.Total)
	if d.OnlyA > 0 {
		o.paragraph(&b, fmt.Sprintf("%.1f %% of A is in functions that B never runs", 100*d.OnlyA))
	}
	if d.OnlyB > 0 {
		o.paragraph(&b, fmt.Sprintf("%.1f %% of B is in functions that A never runs", 100*d.OnlyB))
	}
	for _, doubt := range d.Doubts {
		o.paragraph(&b, doubt)
	}
	_, err := io.WriteString(shown.To(w), b.String())
	return err
}

func (d *Diff) table(b *strings.Builder, o DiffOptions, title string, all []Change) {
	sure := 0
	for sure < len(all) && !all[sure].Noise() {
		sure++
	}
	shown := all[:min(sure, o.Most)]
	if o.All {
		shown = all[:min(len(all), o.Most)]
	}
	fmt.Fprintf(b, "\nfunctions by their share, %s: %d of %d changed by more than chance does\n", title, sure, len(all))
	if len(shown) > 0 {
		w := o.widths(OnCPU)
		fmt.Fprintf(b, "%8s  %-17s  %8s %8s  %-*s  %s\n", "points", "between", "A", "B", w.function, "function", "in")
		for _, c := range shown {
			where := c.Object
			if where == "" {
				where = "?"
			}
			fmt.Fprintf(b, "%+8.1f  %-17s  %8s %8s  %-*s  %s\n", 100*(c.B-c.A), fmt.Sprintf("%+.1f and %+.1f", 100*c.Low, 100*c.High), shareText(c.A, c.InA), shareText(c.B, c.InB),
				w.function, cutTo(clean(c.Function), w.function), cutTo(clean(where), w.object))
		}
	}
	if left := sure - len(shown); left > 0 {
		fmt.Fprintf(b, "and %d more that changed (--top)\n", left)
	}
}

// shareText reports what was never seen from what was seen little.
func shareText(p float64, seen bool) string {
	if !seen {
		return "not seen"
	}
	return percent(p, 1)
}

func plural(n uint64, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
