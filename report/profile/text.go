package profile

import (
	"fmt"
	"io"
	"path"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextOptions are of the table that WriteText writes.
type TextOptions struct {
	Most  int // functions
	Width int // columns of the terminal; 0: as wide as it takes
}

// widths of the columns of names; the files have names whole. 0 is no limit.
type widths struct{ function, object, rest int }

const numbers = 19 // what self and total take, with the space behind them

func (o TextOptions) widths() widths {
	if o.Width == 0 {
		return widths{60, 22, 0}
	}
	// Of what is left the function has most: it is what the table is read for.
	left := max(o.Width-numbers-4, 30)
	w := widths{object: min(22, left/5)}
	w.function = min(60, (left-w.object)*2/3)
	w.rest = left - w.object - w.function
	return w
}

// WriteText writes the table of the functions that took most, what the processes
// took, and how much of it can't be told.
func (p *Profile) WriteText(w io.Writer, o TextOptions) error {
	var b strings.Builder
	t := p.Top(o.Most)
	p.head(&b, t)
	switch {
	case t.Total > 0:
		p.lines(&b, t, o.widths())
		p.foot(&b, t)
	case p.Kind == OffCPU:
		b.WriteString("no thread of it waited meanwhile\n")
	default:
		b.WriteString("nothing of it ran when a sample was taken: it waits, and snag profile --off or snag blocked tell what for\n")
	}
	for _, d := range p.Doubts {
		fmt.Fprintf(&b, "%s\n", d)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Profile) head(b *strings.Builder, t Table) {
	if p.Kind == OffCPU {
		fmt.Fprintf(b, "off the CPU, %.1f s recorded: %.2f s of waits in all threads together\n", p.Seconds, t.Total)
	} else {
		n := uint64(0)
		for _, s := range p.Samples {
			n += s.N
		}
		fmt.Fprintf(b, "on the CPU, %.1f s recorded at %.0f Hz on %d CPUs: %d samples, %.2f CPUs' worth", p.Seconds, p.Hz, p.CPUs, n, t.Total/max(p.Seconds, 1e-9))
		if p.Taken > 0 {
			fmt.Fprintf(b, " (of %.0f taken, idle ones included)", p.Taken)
		}
		b.WriteString("\n")
	}
	type one struct {
		name    string
		seconds float64
	}
	by := map[string]float64{}
	for i := range p.Samples {
		by[p.Samples[i].owner()] += p.Samples[i].Seconds
	}
	var all []one
	for name, s := range by {
		all = append(all, one{name, s})
	}
	sort.Slice(all, func(i, j int) bool {
		return all[i].seconds > all[j].seconds || all[i].seconds == all[j].seconds && all[i].name < all[j].name
	})
	var text []string
	for _, o := range all[:min(len(all), 5)] {
		text = append(text, clean(o.name)+" "+percent(o.seconds, t.Total))
	}
	if len(all) > 5 {
		text = append(text, fmt.Sprintf("and %d more", len(all)-5))
	}
	if len(text) > 0 {
		fmt.Fprintf(b, "%s\n", strings.Join(text, ", "))
	}
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
		fmt.Fprintf(b, "%8s %8s  %-*s  %-*s  %s\n", self, total, w.function, cutTo(function, w.function), w.object, cutTo(object, w.object), rest)
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
		fmt.Fprintf(b, "%19sand %d more functions: the files have all\n", "", t.Left)
	}
	b.WriteString("\n")
}

// reasonWidth is that of the longest reason, or of its head.
func reasonWidth(t Table) int {
	n := len("waits for")
	for _, l := range t.Lines {
		n = max(n, utf8.RuneCountInString(l.Reason))
	}
	return n
}

func (p *Profile) foot(b *strings.Builder, t Table) {
	fmt.Fprintf(b, "%.1f %% of the frames have a name", 100*t.Frames)
	if t.Nameless > 0 {
		fmt.Fprintf(b, "; of %.1f %% of the time it is not known which function ran", 100*t.Nameless)
	}
	b.WriteString("\n")
	if t.Cut > 0 {
		fmt.Fprintf(b, "%.1f %% has a stack that ends early, so that outer callers get too little", 100*t.Cut)
		if t.CutIn != "" {
			fmt.Fprintf(b, "; most of them in %s", clean(path.Base(t.CutIn)))
		}
		b.WriteString("\n")
	}
	if t.NoStack > 0 {
		fmt.Fprintf(b, "%.1f %% has no stack\n", 100*t.NoStack)
	}
}

// clean takes out what would steer a terminal: names come out of others' files.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

func cutTo(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most-1]) + "…"
}
