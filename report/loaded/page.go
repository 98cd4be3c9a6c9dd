package loaded

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"snag/internal/units"
	"snag/load/shape"
)

// HTML writes a page of its own: what the sweep shows, a chart of the times over the rate, and the table.
func (s Sweep) HTML(w io.Writer) error {
	all := shape.Join(s.Points)
	view := pageView{Target: s.Target, Legend: marks}
	for _, text := range s.Read.Sentences {
		view.Sentences = append(view.Sentences, capital(text))
	}
	for _, g := range shape.Groups(all) {
		on := shape.Of(all, g)
		view.Charts = append(view.Charts, chartView{Title: headOf(on[0], false), SVG: svg(on, s.Read.Knee), Rows: rowsOf(on)})
	}
	if err := page.Execute(w, view); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

type pageView struct {
	Target    string
	Sentences []string
	Legend    []mark
	Charts    []chartView
}

type chartView struct {
	Title string
	SVG   template.HTML
	Rows  [][]string
}

func rowsOf(all []shape.At) (out [][]string) {
	for _, a := range all {
		r := []string{units.Count(a.Rate), units.Count(a.Answers), "-", "-", "-", units.Count(float64(a.Lost)), a.Why}
		if a.P50 > 0 {
			r[2], r[3], r[4] = short(a.P50), short(a.P99), short(a.DueP99)
		}
		if a.Repeats > 0 {
			r[6] = ""
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

func svg(all []shape.At, knee *shape.Knee) template.HTML {
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
	return template.HTML(b.String()) // numbers and names of this file alone
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

var page = template.Must(template.New("sweep").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>snag load {{.Target}}</title>
<style>
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#667;--paper:#fff;--grid:#e3e6ea;--p50:#0b62a8;--p99:#b4500a;--due:#8a4b9e}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#9aa3ad;--paper:#15181c;--grid:#2c3137;--p50:#5cb2f5;--p99:#f0964e;--due:#c792d8}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:52rem;margin:0 auto;padding:1.2rem}
h1{font-size:1.15rem;overflow-wrap:anywhere}h2{font-size:1rem;margin-top:2rem}
svg{width:100%;height:auto}svg text{font-size:12px;fill:var(--soft)}
polyline{fill:none;stroke-width:2}.grid{stroke:var(--grid)}line.knee{stroke:var(--soft);stroke-dasharray:4 4}
.p50{stroke:var(--p50);fill:var(--p50)}.p99{stroke:var(--p99);fill:var(--p99)}.due{stroke:var(--due);fill:var(--due)}polyline.p50,polyline.p99,polyline.due{fill:none}polyline.due{stroke-dasharray:2 4}
.legend span{display:inline-block;margin-right:1.2rem}.legend i{display:inline-block;width:.8rem;height:.8rem;border-radius:50%;margin-right:.4rem}
i.p50{background:var(--p50)}i.p99{background:var(--p99)}i.due{background:var(--due)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{text-align:right;padding:.2rem .8rem;border-bottom:1px solid var(--grid);white-space:nowrap}td:last-child{text-align:left;white-space:normal}
</style></head><body>
<h1>{{.Target}}</h1>
{{range .Sentences}}<p>{{.}}</p>
{{end}}<p class="legend">{{range .Legend}}<span><i class="{{.Class}}"></i>{{.Name}}</span>{{end}}</p>
{{range .Charts}}<h2>{{.Title}}</h2>
{{.SVG}}
<div class="scroll"><table><tr><th>requests/s</th><th>answers/s</th><th>p50</th><th>p99</th><th>p99 since due</th><th>lost</th><th></th></tr>
{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</table></div>
{{end}}</body></html>
`))
