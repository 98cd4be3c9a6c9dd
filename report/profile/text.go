package profile

import (
	"fmt"
	"io"
	"math"
	"path"
	"sort"
	"strings"
	"unicode/utf8"

	"snag/internal/shown"
	"snag/internal/units"
)

// TextOptions are of the table that WriteText writes.
type TextOptions struct {
	Most  int // functions
	Width int // columns of the terminal; 0: as wide as it takes
}

// widths of the columns of names; the files have names whole. 0 is no limit.
type widths struct{ function, object, rest int }

const numbers = 19 // what self and total take, with the space behind them

func (o TextOptions) widths(kind string) widths {
	if o.Width == 0 {
		return widths{60, 22, 0}
	}
	// Of what is left the function has most: it is what the table is read for.
	left := max(o.Width-numbers-4, 30)
	w := widths{object: min(22, left/5)}
	w.function = min(60, (left-w.object)*2/3)
	if kind == OffCPU { // what was waited for stands beside the thread
		w = widths{object: min(22, left/6)}
		w.function = min(60, (left-w.object)/2)
	}
	w.rest = left - w.object - w.function
	return w
}

// WriteText writes the table of the functions that took most, what the processes
// took, and how much of it can't be told.
func (p *Profile) WriteText(w io.Writer, o TextOptions) error {
	var b strings.Builder
	t := p.Top(o.Most)
	p.head(&b, t, o)
	switch {
	case t.Total > 0:
		p.lines(&b, t, o.widths(p.Kind))
		p.foot(&b, t, o)
	case p.Kind == OffCPU:
		o.paragraph(&b, "no thread of it waited meanwhile")
	default:
		o.paragraph(&b, "nothing of it ran when a sample was taken: it waits, and snag profile --off or snag blocked show what for")
	}
	for _, d := range p.Doubts {
		if t.Total > 0 && d.said(t) {
			continue
		}
		o.paragraph(&b, d.text())
	}
	_, err := io.WriteString(shown.To(w), b.String())
	return err
}

func (p *Profile) head(b *strings.Builder, t Table, o TextOptions) {
	if p.Kind == OffCPU {
		o.paragraph(b, fmt.Sprintf("off the CPU, %.1f s recorded: %.2f s of waits in all threads together", p.Seconds, t.Total))
	} else if p.Event != "" {
		o.paragraph(b, p.counted(t))
	} else {
		n := p.samples()
		text := fmt.Sprintf("on the CPU, %.1f s recorded", p.Seconds)
		if p.Hz > 0 {
			text += fmt.Sprintf(" at %.0f Hz", p.Hz)
		}
		if p.Hz > 0 && p.CPUs > 0 {
			text += fmt.Sprintf(" on %d %s", p.CPUs, plural(uint64(p.CPUs), "CPU"))
		}
		text += fmt.Sprintf(": %d %s", n, plural(n, "sample"))
		if p.Seconds >= 1 {
			text += fmt.Sprintf(", %.2f CPUs' worth", t.Total/p.Seconds)
		}
		if p.Taken > 0 {
			text += fmt.Sprintf(" (of %.0f taken, idle ones included)", p.Taken)
		}
		o.paragraph(b, text)
	}
	if n := p.samples(); p.Kind == OnCPU && n > 0 && n < few {
		// Two standard errors of a share of one half.
		o.paragraph(b, fmt.Sprintf("with so few samples shares are known to about ±%.0f points: a longer --for narrows that", 100/math.Sqrt(float64(n))))
	}
	type one struct {
		name  string
		value float64
	}
	by := map[string]float64{}
	for i := range p.Samples {
		by[p.Samples[i].owner()] += p.Samples[i].Value
	}
	var all []one
	for name, s := range by {
		all = append(all, one{name, s})
	}
	sort.Slice(all, func(i, j int) bool {
		return all[i].value > all[j].value || all[i].value == all[j].value && all[i].name < all[j].name
	})
	var text []string
	for _, a := range all[:min(len(all), 5)] {
		text = append(text, clean(a.name)+" "+percent(a.value, t.Total))
	}
	if len(all) > 5 {
		text = append(text, fmt.Sprintf("and %d more", len(all)-5))
	}
	if len(text) > 0 {
		o.paragraph(b, strings.Join(text, ", "))
	}
}

// counted says what an event's samples stand for.
func (p *Profile) counted(t Table) string {
	text := clean(p.Event)
	if p.Seconds > 1 { // files without times have one second
		text += fmt.Sprintf(", %.1f s recorded", p.Seconds)
	}
	text += fmt.Sprintf(": %d %s", p.samples(), plural(p.samples(), "sample"))
	if p.Unit != Samples {
		text += fmt.Sprintf(", which stand for %s %s", units.Count(t.Total), clean(p.Unit))
	}
	return text
}

func (p *Profile) lines(b *strings.Builder, t Table, w widths) {
	row := func(self, total, function, object, thread, reason string) {
		rest := thread
		if p.Kind == OffCPU { // what for stands first: the thread's name may be cut
			rest = fmt.Sprintf("%-*s  %s", reasonWidth(t), reason, thread)
		}
		if w.rest > 0 {
			rest = cutTo(rest, w.rest)
		}
		shown.Fprintf(b, "%8s %8s  %-*s  %-*s  %s\n", self, total, w.function, cutTo(function, w.function), w.object, cutTo(object, w.object), rest)
	}
	b.WriteString("\n")
	row("self", "total", "function", "in", "thread", "waits for")
	for _, l := range t.Lines {
		where := l.Object
		if where != "kernel" && where != "" {
			where = path.Base(where)
		}
		if where == "" {
			where = "?"
		}
		row(percent(l.Self, t.Total), percent(l.Total, t.Total), clean(l.Function), clean(where), clean(l.Thread), l.Reason)
	}
	if t.Left > 0 {
		shown.Fprintf(b, "%19sand %d more functions: the files have all\n", "", t.Left)
	}
	b.WriteString("\n")
}

// few samples are too few for what a table of shares looks like.
const few = 100

// samples is how many there are.
func (p *Profile) samples() uint64 {
	n := uint64(0)
	for _, s := range p.Samples {
		n += s.N
	}
	return n
}

// reasonWidth is that of the longest reason, or of its head.
func reasonWidth(t Table) int {
	n := len("waits for")
	for _, l := range t.Lines {
		n = max(n, utf8.RuneCountInString(l.Reason))
	}
	return n
}

// foot says how much can't be told, and what would help.
func (p *Profile) foot(b *strings.Builder, t Table, o TextOptions) {
	if t.NoStack < 1 {
		text := fmt.Sprintf("%.1f %% of the frames have a name", 100*t.Frames)
		if t.Nameless > 0 {
			text += fmt.Sprintf("; of %.1f %% of the time it is not known which function ran", 100*t.Nameless)
		}
		d := p.doubt(fewNames)
		if _, where, ok := strings.Cut(d.Why, "; of those without, "); ok {
			text += "; of those without one, " + where
		}
		o.paragraph(b, text+inBrackets(d.Cure))
	}
	if t.Cut > 0 {
		text := fmt.Sprintf("%.1f %% has a stack that ends early, so that outer callers get too little", 100*t.Cut)
		if t.CutIn != "" {
			text += "; most of them in " + clean(path.Base(t.CutIn))
		}
		o.paragraph(b, text+inBrackets(p.doubt(cutStacks).Cure))
	}
	switch {
	case t.NoStack > 0 && p.Kind == OffCPU:
		o.paragraph(b, fmt.Sprintf("%.1f %% has no stack: mostly waits that neither began nor ended meanwhile, as those of idle threads (snag blocked lists them)", 100*t.NoStack))
	case t.NoStack > 0:
		shown.Fprintf(b, "%.1f %% has no stack\n", 100*t.NoStack)
	}
}

// What the probe says of all that it sampled, and the foot of what is shown.
const (
	fewNames  = "of the frames have a name"
	cutStacks = "have a stack that ends early"
)

// said reports whether the foot says the same.
func (d Doubt) said(t Table) bool {
	return strings.Contains(d.Why, fewNames) || strings.Contains(d.Why, cutStacks) && t.Cut > 0
}

// doubt is what the probe says of one of them; the zero one where nothing.
func (p *Profile) doubt(what string) Doubt {
	for _, d := range p.Doubts {
		if strings.Contains(d.Why, what) {
			return d
		}
	}
	return Doubt{}
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// paragraph writes a sentence on as many lines as a terminal needs.
func (o TextOptions) paragraph(b *strings.Builder, text string) {
	at := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i > 0 && o.Width > 0 && at+1+n > o.Width:
			b.WriteString("\n  ")
			at = 2
		case i > 0:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteString("\n")
}

// clean makes visible what would steer a terminal: names come out of others' files.
func clean(s string) string { return shown.Text(s) }

func cutTo(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most-1]) + "…"
}
