package page

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"snag/verdict"
)

// move puts the mouse over a point of the page.
func (c *chrome) move(x, y float64) {
	c.t.Helper()
	c.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": x, "y": y, "buttons": 0}, nil)
	c.settle()
}

// chartBox is the place of a chart's plot, by the chart's title.
type chartBox struct{ X, Y, Width, Height float64 }

func (c *chrome) chartBox(title string) (b chartBox) {
	c.t.Helper()
	c.eval(fmt.Sprintf(`(() => { const f = [...document.querySelectorAll('.chart')].find(f => f.querySelector('h4').textContent === %q);
		const b = f.querySelector('.u-over').getBoundingClientRect(); return {x: b.x, y: b.y, width: b.width, height: b.height} })()`, title), &b)
	return b
}

// TestTheCursorReadsTheStepUnderIt: a rate's value holds since the sample before, so just after a sample the legend has
// the value of the next one.
func TestTheCursorReadsTheStepUnderIt(t *testing.T) {
	v := judged(t, sick)
	d := New(v, limits[0])
	var line Line
	for _, chart := range d.Charts {
		if chart.Title == "CPU time" {
			line = chart.Lines[0]
		}
	}
	step := 0 // the sample after which the rate is another one
	for i := 1; i < len(line.V); i++ {
		if line.V[i-1] == 0 && line.V[i] > 0 {
			step = i
		}
	}
	if step == 0 {
		t.Fatalf("the CPU time does not rise: %v", line.V)
	}
	c := browser(t)
	c.size(1280, 2400)
	c.open(pageOf(t, sick))
	b := c.chartBox("CPU time")
	at := func(t float64) float64 { return b.X + b.Width*t/v.Recording.Length().Seconds() }
	said := func() (text string) {
		c.eval(`[...document.querySelectorAll('.chart')].find(f => f.querySelector('h4').textContent === 'CPU time').querySelector('.value').textContent`, &text)
		return text
	}
	for _, k := range []struct {
		part float64
		want string
	}{{-0.2, "0 %"}, {0.2, "1 %"}, {0.8, "1 %"}} {
		from, to := line.T[step-1], line.T[step]
		c.move(at(from+k.part*(to-from)), b.Y+b.Height/2)
		if got := said(); got != k.want {
			t.Errorf("at %g of the step from %g s to %g s the legend has %q, want %q", k.part, from, to, got, k.want)
		}
	}
	c.move(at(line.T[0])-2, b.Y+b.Height/2) // before the first sample
	if got := said(); got != "–" {
		t.Errorf("where nothing was measured the legend has %q", got)
	}
}

// TestCursorsStayTogether: after a zoom all charts and the timeline have the cursor at one place, and none has it when
// it is outside of what is shown.
func TestCursorsStayTogether(t *testing.T) {
	c := browser(t)
	c.size(1280, 2400)
	c.open(pageOf(t, sick))
	places := func() (out []float64) {
		c.settle()
		c.eval(`(() => { const line = document.querySelector('svg.timeline .cursor'), box = document.querySelector('svg.timeline').getBoundingClientRect();
			return [line.getAttribute('visibility') === 'hidden' ? -1 : box.x + Number(line.getAttribute('x1')),
			...[...document.querySelectorAll('.chart .u-over')].map(o => { const b = o.querySelector('.u-cursor-x').getBoundingClientRect(), x = b.x; return x < o.getBoundingClientRect().x ? -1 : x })] })()`, &out)
		return out
	}
	together := func(when string) {
		t.Helper()
		all := places()
		if len(all) < 4 || all[0] < 0 {
			t.Fatalf("%s: %v", when, all)
		}
		for _, x := range all {
			if math.Abs(x-all[0]) > 1.5 {
				t.Fatalf("%s the cursors are at %v", when, all)
			}
		}
	}
	b := c.chartBox("receive queue")
	c.move(b.X+b.Width*0.6, b.Y+b.Height/2)
	together("at first")
	c.drag(b.X+b.Width*0.3, b.Y+b.Height/2, b.X+b.Width*0.7, b.Y+b.Height/2)
	together("after a drag")
	c.eval(`document.getElementById('timebox').focus()`, nil)
	c.key("+", 0)
	together("after a key")
	c.key("Home", 0)
	together("of the whole window")
	c.eval(`document.getElementById('timebox').dispatchEvent(new KeyboardEvent('keydown', {key: '+'}))`, nil)
	for range 9 {
		c.eval(`document.getElementById('timebox').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft', shiftKey: true}))`, nil)
	}
	for i, x := range places() {
		if x >= 0 {
			t.Errorf("cursor %d is drawn at %g, though the time is not shown", i, x)
		}
	}
}

// TestLegendsNameEveryLine: as many names as lines, each another one, none cut off by its box, each swatch with a
// stroke of its own.
func TestLegendsNameEveryLine(t *testing.T) {
	several := false
	for _, name := range []string{"process-stopped-sick", "busy-thread-sick", "lock-convoy-go-sick"} {
		file := "../../lab/recordings/" + name + ".snag"
		lines := 0
		for _, chart := range New(judged(t, file), limits[0]).Charts {
			if !chart.Flat {
				lines, several = lines+len(chart.Lines), several || len(chart.Lines) > 3
			}
		}
		c := browser(t)
		c.size(1280, 2400)
		c.open(pageOf(t, file))
		var names int
		var poor []string
		c.eval(`document.querySelectorAll('.charts .lines li').length`, &names)
		c.eval(`[...document.querySelectorAll('.charts .chart')].flatMap(f => { const all = [...f.querySelectorAll('.lines li')];
			const texts = all.map(l => l.querySelector('.quiet').textContent), strokes = all.map(l => l.querySelector('line').getAttribute('stroke-dasharray'));
			return [new Set(texts).size < all.length ? 'the same name twice: ' + texts.join(' | ') : '', new Set(strokes).size < all.length ? 'the same stroke twice: ' + strokes.join(' | ') : '',
				...all.map(l => l.scrollWidth > l.clientWidth + 1 ? 'cut off: ' + l.textContent : '')].filter(Boolean) })`, &poor)
		if names != lines {
			t.Errorf("%s: %d names of %d lines", name, names, lines)
		}
		for _, p := range poor {
			t.Errorf("%s: %s", name, p)
		}
	}
	if !several {
		t.Error("no chart has more than three lines: the recordings do not show what they should")
	}
}

// TestRowsNameTheirSubject of the page: of the symptom, the culprit and the events, without being opened.
func TestRowsNameTheirSubject(t *testing.T) {
	c := browser(t)
	c.size(1280, 800)
	c.open(pageOf(t, sick))
	var rows []string
	c.eval(`[...document.querySelectorAll('svg.timeline .row-label')].map(l => { const all = l.cloneNode(true); all.querySelector('title').remove(); return all.textContent })`, &rows)
	for _, want := range []string{"▲ stream-freeze media-relay[", "● process-stopped media-relay[26806]", "· stopped media-relay[26806]"} {
		if !strings.Contains("\n"+strings.Join(rows, "\n"), "\n"+want) {
			t.Errorf("no row %q: %q", want, rows)
		}
	}
	var over []string
	c.eval(`(() => { const x = document.querySelector('svg.timeline .ground').getBoundingClientRect().x;
		return [...document.querySelectorAll('svg.timeline .row-label')].filter(l => l.getBoundingClientRect().right > x).map(l => l.textContent) })()`, &over)
	for _, o := range over {
		t.Errorf("a label reaches into the rows: %s", o)
	}
}

// TestAFlameGraphOpensAtTheCulprit: over the whole width, also where the verdict has another name for it than the
// kernel; rows without a name are not drawn.
func TestAFlameGraphOpensAtTheCulprit(t *testing.T) {
	c := browser(t)
	c.size(1280, 800)
	for name, want := range map[string]string{"busy-thread-sick": "stock-server[7693]", "runtime-pause-g1-sick": "java[15771]", "error-answers-healthy": "all"} {
		c.open(pageOf(t, "../../lab/recordings/"+name+".snag"))
		var seen struct {
			At, Below               string
			Share, Height, Readable float64
		}
		c.eval(`(() => { const s = document.querySelector('svg.flame'), all = [...s.querySelectorAll('g')], w = g => Number(g.querySelector('rect').getAttribute('width'));
			const at = s.querySelector('.at'), low = Math.max(...all.filter(g => w(g) > 50).map(g => Number(g.querySelector('rect').getAttribute('y')) + 18));
			return {at: at.textContent, share: w(at) / s.clientWidth, height: s.clientHeight, readable: low, below: s.closest('.profile').querySelector('.below').textContent} })()`, &seen)
		if seen.At != want || seen.Share < 0.99 {
			t.Errorf("%s opens at %q, %.0f %% wide, not at %q", name, seen.At, 100*seen.Share, want)
		}
		if seen.Height > max(seen.Readable, 14*18) {
			t.Errorf("%s: %g px of a graph that has names in %g px", name, seen.Height, seen.Readable)
		}
	}
	// Of the healthy host the deepest rows have no frame with room for a name.
	c.open(pageOf(t, "../../lab/recordings/runtime-pause-shenandoah-healthy.snag"))
	var below string
	c.eval(`document.querySelector('.below').textContent`, &below)
	if !strings.Contains(below, "deeper rows are not drawn") {
		t.Errorf("below the graph: %q", below)
	}
}

// TestTheCulpritRestsOnProofs, in the words of the text; a number only where it is low.
func TestTheCulpritRestsOnProofs(t *testing.T) {
	v := *judged(t, sick)
	v.Entries = append([]verdict.Entry{}, v.Entries...)
	c := browser(t)
	said := func() (text string) {
		html, err := render(&v)
		if err != nil {
			t.Fatal(err)
		}
		c.open(html)
		c.eval(`document.querySelector('.answer .top').textContent`, &text)
		return text
	}
	if got, want := said(), "Culpritprocess-stopped · 1 proof, 2 strong signs"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range v.Entries {
		if v.Entries[i].State == verdict.Culprit {
			v.Entries[i].Confidence = 0.72
		}
	}
	if got, want := said(), "Culpritprocess-stopped · 1 proof, 2 strong signs, confidence 0.72"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAStepIsDrawnWholeAfterAZoom: the sample that a step leads to may be outside of what is shown; the axis of the
// values follows it all the same.
func TestAStepIsDrawnWholeAfterAZoom(t *testing.T) {
	c := browser(t)
	c.size(1280, 2400)
	c.open(pageOf(t, sick))
	v := judged(t, sick)
	b := c.chartBox("CPU time")
	at := func(t float64) float64 { return b.X + b.Width*t/v.Recording.Length().Seconds() }
	var line Line
	for _, chart := range New(v, limits[0]).Charts {
		if chart.Title == "CPU time" {
			line = chart.Lines[0]
		}
	}
	for i := 1; i < len(line.V); i++ {
		if from, to := line.T[i-1], line.T[i]; line.V[i] > line.V[i-1] {
			c.drag(at(from-0.5*(to-from)), b.Y+b.Height/2, at(from+0.3*(to-from)), b.Y+b.Height/2) // its beginning, not its sample
		}
	}
	var high float64 // of the line, 0 at the bottom of the plot and 1 at its top
	c.eval(`(() => { const f = [...document.querySelectorAll('.chart')].find(f => f.querySelector('h4').textContent === 'CPU time'), k = f.querySelector('canvas');
		const o = f.querySelector('.u-over').getBoundingClientRect(), b = k.getBoundingClientRect(), by = k.width / b.width, tall = Math.round(o.height * by);
		const px = k.getContext('2d').getImageData(Math.round((o.x - b.x + 0.9 * o.width) * by), Math.round((o.y - b.y) * by), 1, tall).data;
		for (let y = 0; y < tall; y++) if (px[4 * y + 3] > 200 && px[4 * y] - px[4 * y + 1] > 90) return 1 - y / tall;
		return -1 })()`, &high)
	if high < 0.7 || high > 1 {
		t.Errorf("the line is at %.2f of the plot's height", high)
	}
}
