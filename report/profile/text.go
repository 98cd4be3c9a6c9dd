package profile

import (
	"fmt"
	"io"
	"path"
	"sort"
	"strings"
	"unicode"
)

// longest a function's name is shown; the files have it whole.
const longest = 60

// WriteText writes the table of the functions that took most, what the processes
// took, and how much of it can't be told.
func (p *Profile) WriteText(w io.Writer, most int) error {
	var b strings.Builder
	t := p.Top(most)
	p.head(&b, t)
	if t.Total > 0 {
		p.lines(&b, t)
		p.foot(&b, t)
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
		rate := ""
		if p.Hz > 0 { // without a sample it is not known
			rate = fmt.Sprintf(" at %.0f Hz", p.Hz)
		}
		fmt.Fprintf(b, "on the CPU, %.1f s recorded%s on %d CPUs: %d samples, %.2f CPUs' worth", p.Seconds, rate, p.CPUs, n, t.Total/max(p.Seconds, 1e-9))
		if p.Taken > 0 {
			fmt.Fprintf(b, " (of %.0f taken, idle ones included)", p.Taken)
		}
		b.WriteString("\n")
		if n == 0 {
			b.WriteString("it was on no CPU when one was looked at: where it waits, snag profile --off tells\n")
		}
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

func (p *Profile) lines(b *strings.Builder, t Table) {
	last := ""
	if p.Kind == OffCPU {
		last = "  waits for"
	}
	fmt.Fprintf(b, "\n%8s %8s  %-*s  %-22s  thread%s\n", "self", "total", longest, "function", "in", last)
	for _, l := range t.Lines {
		where := l.Object
		if where != "kernel" && where != "" {
			where = path.Base(where)
		}
		if where == "" {
			where = "?"
		}
		reason := ""
		if l.Reason != "" {
			reason = "  " + l.Reason
		}
		fmt.Fprintf(b, "%8s %8s  %-*s  %-22s  %s%s\n", percent(l.Self, t.Total), percent(l.Total, t.Total), longest, cutTo(clean(l.Function), longest), cutTo(clean(where), 22), clean(l.Thread), reason)
	}
	if t.Left > 0 {
		fmt.Fprintf(b, "%19sand %d more functions: the files have all\n", "", t.Left)
	}
	b.WriteString("\n")
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
