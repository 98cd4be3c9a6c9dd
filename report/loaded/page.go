package loaded

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"snag/internal/units"
	"snag/load/shape"
)

// HTML writes a page of its own: what the sweep shows, a chart of the times over the rate, and the table. It is written
// by hand: a program that links html/template keeps every method of every type, which took 4 MB of snag.
func (s Sweep) HTML(w io.Writer) error {
	all := shape.Join(s.Points)
	target := html.EscapeString(s.Target)
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, target, target)
	for _, text := range s.Read.Sentences {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(capital(text)))
	}
	if s.Ended != "" {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(s.early()))
	}
	b.WriteString(`<p class="legend">`)
	for _, m := range marks {
		fmt.Fprintf(&b, `<span><i class="%s"></i>%s</span>`, m.Class, m.Name)
	}
	b.WriteString("</p>\n")
	for _, g := range shape.Groups(all) {
		on := shape.Of(all, g)
		fmt.Fprintf(&b, "<h2>%s</h2>\n%s\n", html.EscapeString(headOf(on[0], false)), svg(on, s.Read.Knee))
		b.WriteString(table(rowsOf(on)))
	}
	for _, a := range s.Read.Advice {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(a))
	}
	b.WriteString("</body></html>\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// table has what was measured at each rate.
func table(rows [][]string) string {
	var b strings.Builder
	b.WriteString(tableHead)
	for _, r := range rows {
		b.WriteString("<tr>")
		for _, cell := range r {
			fmt.Fprintf(&b, "<td>%s</td>", html.EscapeString(cell))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table></div>\n")
	return b.String()
}

// noteOf is why a row, or its last time, is not the service's.
func noteOf(a shape.At) string {
	switch {
	case a.Repeats == 0 && a.Why != "":
		return whyOf(a)
	case a.DueWhy != "":
		return "since due: " + a.DueWhy
	}
	return ""
}

func rowsOf(all []shape.At) (out [][]string) {
	for _, a := range all {
		r := []string{units.Count(a.Rate), units.Count(a.Answers), "-", "-", "-", units.Count(float64(a.Lost)), noteOf(a)}
		if a.P50 > 0 {
			r[2], r[3] = short(a.P50), short(a.P99)
		}
		if a.DueP99 > 0 {
			r[4] = short(a.DueP99)
		}
		if a.Failed {
			r[1], r[5] = "-", "-"
		}
		out = append(out, r)
	}
	return out
}

// mark is one line of the chart.
type mark struct {
	Name, Class string
	of          func(shape.At) float64
}

var marks = []mark{
	{"p50 since it was sent", "p50", func(a shape.At) float64 { return a.P50 }},
	{"p99 since it was sent", "p99", func(a shape.At) float64 { return a.P99 }},
	{"p99 since it was due", "due", func(a shape.At) float64 { return a.DueP99 }},
}

// The chart, in units of its own: both axes are logarithmic.
const (
	chartWide, chartHigh = 760.0, 320.0
	left, bottom, top    = 70.0, 40.0, 12.0
)

// svg is the chart. It has numbers and names of this file alone, so that nothing in it is escaped.
func svg(all []shape.At, knee *shape.Knee) string {
	var seen []shape.At
	low, high := math.Inf(1), 0.0
	for _, a := range all {
		if a.P50 <= 0 {
			continue
		}
		seen = append(seen, a)
		for _, m := range marks {
			if v := m.of(a); v > 0 {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if len(seen) < 2 {
		return ""
	}
	low, high = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
	from, to := seen[0].Rate, seen[len(seen)-1].Rate
	x := func(v float64) float64 {
		return left + (chartWide-left-12)*math.Log(v/from)/math.Log(to/from)
	}
	y := func(v float64) float64 {
		return chartHigh - bottom - (chartHigh-bottom-top)*math.Log(v/low)/math.Log(high/low)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="time of an answer over requests per second">`, chartWide, chartHigh)
	for v := low; v <= high*1.01; v *= 10 {
		fmt.Fprintf(&b, `<line class="grid" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/><text x="%g" y="%.1f" text-anchor="end">%s</text>`, left, chartWide-12, y(v), y(v), left-8, y(v)+4, short(v))
	}
	for i, a := range seen {
		// Each second label is left out where there are many.
		if len(seen) <= 10 || i%2 == 0 {
			fmt.Fprintf(&b, `<text x="%.1f" y="%g" text-anchor="%s">%s</text>`, x(a.Rate), chartHigh-bottom+18, anchor(i, len(seen)), units.Count(a.Rate))
		}
	}
	fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="middle">requests/s</text>`, (left+chartWide)/2, chartHigh-4)
	if knee != nil && knee.Most > from && knee.Most < to && knee.At.Conns == all[0].Conns {
		fmt.Fprintf(&b, `<line class="knee" x1="%.1f" x2="%.1f" y1="%g" y2="%g"/><text class="knee" x="%.1f" y="%g" text-anchor="end">most: %s/s</text>`, x(knee.Most), x(knee.Most), top, chartHigh-bottom, x(knee.Most)-5, top+10, units.Count(knee.Most))
	}
	for _, m := range slices.Backward(marks) {
		var path []string
		for _, a := range seen {
			if v := m.of(a); v > 0 {
				path = append(path, fmt.Sprintf("%.1f,%.1f", x(a.Rate), y(v)))
				fmt.Fprintf(&b, `<circle class="%s" cx="%.1f" cy="%.1f" r="3"><title>%s at %s requests/s: %s</title></circle>`, m.Class, x(a.Rate), y(v), m.Name, units.Count(a.Rate), short(v))
			}
		}
		fmt.Fprintf(&b, `<polyline class="%s" points="%s"/>`, m.Class, strings.Join(path, " "))
	}
	b.WriteString("</svg>")
	return b.String()
}

// anchor keeps the last label inside of the chart.
func anchor(i, of int) string {
	if i == of-1 {
		return "end"
	}
	return "middle"
}

// capital begins a sentence, which the text puts after the target.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
