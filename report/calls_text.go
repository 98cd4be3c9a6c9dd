package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"snag/internal/shown"
	"snag/internal/units"
	"snag/recording"
)

// TableOptions are of the tables that WriteCalls and WriteBlocked print.
type TableOptions struct {
	Width int // columns; 0 is 100
	Most  int // rows of a table; 0 is 20
}

func (o TableOptions) orDefault() TableOptions {
	if o.Width == 0 {
		o.Width = 100
	}
	if o.Most == 0 {
		o.Most = 20
	}
	return o
}

// WriteCalls writes the table of strace -c -w, sorted the same, then the descriptors.
func WriteCalls(w io.Writer, c *Calls, o TableOptions) error {
	o = o.orDefault()
	var b strings.Builder
	all, failed, seconds := uint64(0), uint64(0), 0.0
	for _, t := range c.Calls {
		all, failed, seconds = all+t.N, failed+t.Failed, seconds+t.Seconds
	}
	line(&b, o, "%s · %.1f s from %s · %s calls, %s", who(c), c.Seconds, clock(c.Start), units.Count(float64(all)), units.Rate(float64(all)/max(c.Seconds, 1e-3)))
	if len(c.Calls) == 0 {
		b.WriteString("no call returned meanwhile: it runs without any, or it is stuck in one\n")
	} else {
		c.table(&b, o, all, failed, seconds)
	}
	c.errors(&b, o)
	c.descriptors(&b, o)
	c.blocked(&b, o)
	c.foot(&b, o)
	_, err := io.WriteString(shown.To(w), b.String())
	return err
}

// table is that of strace -c -w.
func (c *Calls) table(b *strings.Builder, o TableOptions, all, failed uint64, seconds float64) {
	b.WriteString("\n% time     seconds  usecs/call     calls    errors syscall\n")
	const rule = "------ ----------- ----------- --------- --------- ----------------\n"
	b.WriteString(rule)
	row := func(t CallTotal) {
		errors := ""
		if t.Failed > 0 {
			errors = fmt.Sprint(t.Failed)
		}
		shown.Fprintf(b, "%6.2f %11.6f %11.0f %9d %9s %s\n", 100*ratio(t.Seconds, seconds), t.Seconds, 1e6*ratio(t.Seconds, float64(t.N)), t.N, errors, t.Call)
	}
	left := CallTotal{}
	for i, t := range c.Calls {
		if i < 2*o.Most {
			row(t)
			continue
		}
		left.N, left.Failed, left.Seconds = left.N+t.N, left.Failed+t.Failed, left.Seconds+t.Seconds
	}
	if n := len(c.Calls) - 2*o.Most; n > 0 {
		left.Call = fmt.Sprintf("(%d more: --top)", n)
		row(left)
	}
	b.WriteString(rule)
	row(CallTotal{Call: "total", N: all, Failed: failed, Seconds: seconds})
}

// WriteCallsJSON writes them for programs.
func WriteCallsJSON(w io.Writer, c *Calls) error {
	e := json.NewEncoder(shown.JSON(w))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(c)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// line writes one line, cut to the width.
func line(b *strings.Builder, o TableOptions, format string, args ...any) {
	b.WriteString(clipped(shown.Sprintf(format, args...), o.Width) + "\n")
}

func clipped(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}

func who(c *Calls) string {
	switch {
	case len(c.Processes) == 0 && c.Target.PID != 0:
		return fmt.Sprintf("process %d", c.Target.PID)
	case len(c.Processes) == 0:
		return "no process"
	}
	p := c.Processes[0]
	text := fmt.Sprintf("%s[%d]", p.Comm, p.PID)
	if n := len(c.Processes) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// errors lists why calls failed, of those that fail most.
func (c *Calls) errors(b *strings.Builder, o TableOptions) {
	type one struct {
		call, name string
		n          uint64
	}
	var all []one
	for _, t := range c.Calls {
		for name, n := range t.Errors {
			all = append(all, one{t.Call, name, n})
		}
	}
	if len(all) == 0 {
		return
	}
	sortDown(all, func(a one) (float64, string) { return float64(a.n), a.call + a.name })
	text := "errors: "
	for i, e := range all {
		if i == 8 {
			text += fmt.Sprintf(", and %d more kinds", len(all)-i)
			break
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %s %s", e.call, e.name, units.Count(float64(e.n)))
	}
	b.WriteString("\n")
	paragraph(b, o, text)
}

func (c *Calls) descriptors(b *strings.Builder, o TableOptions) {
	if len(c.FDs) == 0 {
		return
	}
	b.WriteString("\n")
	line(b, o, "descriptors, by time in calls on them (waiting for any event left out)")
	line(b, o, "%7s %5s %7s %8s %8s %8s %7s %6s  %s", "pid", "fd", "reads/s", "writes/s", "in/s", "out/s", "time", "EAGAIN", "slowest call")
	span := max(c.Seconds, 1e-3)
	for i, t := range c.FDs {
		if i == o.Most {
			line(b, o, "and %d more: --top %d", len(c.FDs)-i, len(c.FDs))
			break
		}
		slowest, began := fmt.Sprintf("%s %s", t.MaxCall, seconds(t.Max)), " "+t.MaxAt.Wall().Format("15:04:05.0")
		numbers := fmt.Sprintf("%7d %5d %7s %8s %8s %8s %7s %6s  ", t.PID, t.FD, perSecond(t.Reads, span), perSecond(t.Writes, span),
			bytesOf(t.In, span), bytesOf(t.Out, span), seconds(t.Seconds), dash(t.Again))
		if t.MaxAt != 0 && utf8.RuneCountInString(numbers+slowest+began) < o.Width {
			slowest += began
		}
		line(b, o, "%s%s", numbers, slowest)
		line(b, o, "%8s%s", "", t.text())
	}
}

// text says what the descriptor was.
func (t *FDTotal) text() string {
	if t.What == nil {
		return "not known: closed before it was looked at, or not open"
	}
	text := t.What.Text()
	if t.What.Carries != "" {
		text += " · " + t.What.Carries
	}
	if t.Times > 1 {
		text += fmt.Sprintf(" (%s before)", counted(t.Times-1, "other", "others"))
	}
	return text
}

func (c *Calls) blocked(b *strings.Builder, o TableOptions) {
	if len(c.Blocked) == 0 {
		return
	}
	b.WriteString("\n")
	head := "still in a call at the end"
	if slices.ContainsFunc(c.Blocked, func(t BlockedThread) bool { return t.Call == "futex" && !t.Idle }) {
		head += " (of futex snag blocked says which lock, and who holds it)"
	}
	line(b, o, "%s", head)
	writeBlocked(b, c.Blocked, o, false)
}

// foot says what the trace itself cost, and what it could not see.
func (c *Calls) foot(b *strings.Builder, o TableOptions) {
	b.WriteString("\n")
	cost := fmt.Sprintf("%.3f s of CPU in snag", c.Cost.Snag)
	if k := c.Cost.Kernel; k != nil {
		cost = fmt.Sprintf("%.3f s of CPU in the kernel, other processes' calls included, and %s: %s of a CPU", *k, cost,
			units.Percent(ratio(*k+c.Cost.Snag, c.Seconds)))
	}
	paragraph(b, o, "the trace cost "+cost)
	for _, row := range c.Coverage {
		if row.Why == "" || row.State == recording.CoverageOff {
			continue
		}
		paragraph(b, o, row.Probe+": "+row.Why)
	}
}

// counted is a number with the word for one or for many.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func seconds(s float64) string { return units.Seconds(time.Duration(s * 1e9)) }

func perSecond(n uint64, span float64) string {
	if n == 0 {
		return "–"
	}
	return strings.TrimSuffix(units.Rate(float64(n)/span), "/s")
}

func bytesOf(n uint64, span float64) string {
	if n == 0 {
		return "–"
	}
	return units.Bytes(float64(n) / span)
}

func dash(n uint64) string {
	if n == 0 {
		return "–"
	}
	return units.Count(float64(n))
}
