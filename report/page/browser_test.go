package page

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snag/recording/rectest"
	"snag/verdict"
)

// maxOpened pages of lab recordings are opened: TestDataFitTheirSchema sees the
// data of all.
const maxOpened = 24

// TestRecordingsOpen opens pages of the lab's incidents, and of some of their
// healthy twins: the answer is in the first screen, the culprit is marked where its
// subject is, no error, nothing asked for, and small. How quick: BenchmarkLoad.
func TestRecordingsOpen(t *testing.T) {
	c := browser(t)
	c.size(1280, 800)
	var files []string
	for i, file := range recordings(t) {
		if strings.HasSuffix(file, "-sick.snag") || i%12 == 0 {
			files = append(files, file)
		}
	}
	for i, file := range files {
		if i%(len(files)/maxOpened+1) != 0 {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".snag")
		v := judged(t, file)
		html, err := render(v)
		if err != nil {
			t.Fatal(err)
		}
		if len(html) > MaxBytes {
			t.Errorf("%s: %d bytes", name, len(html))
		}
		var seen struct {
			State, Title, Hash              string
			Culprits, Marked, Hops, Tables  int
			AnswerBottom, RemedyBottom, Bar float64
		}
		c.open(html)
		c.eval(`(() => { const q = s => document.querySelectorAll(s), b = s => { const e = document.querySelector(s); return e ? e.getBoundingClientRect().bottom : 0 };
			return {state: document.querySelector('.answer .state').textContent, title: document.querySelector('.answer h3').textContent,
			culprits: q('.answer.guilty').length, marked: q('.hop.culprit').length, hops: q('.hop').length, tables: q('details.table').length,
			answerBottom: b('.answer h3'), remedyBottom: b('.remedy'), bar: document.documentElement.scrollWidth} })()`, &seen)
		for _, complaint := range c.complaints() {
			t.Errorf("%s: %s", name, complaint)
		}
		culprits := v.With(verdict.Culprit)
		if seen.Culprits != len(culprits) {
			t.Errorf("%s: %d culprits are shown of %d", name, seen.Culprits, len(culprits))
		}
		if len(culprits) > 0 && (seen.State != "Culprit" || !strings.EqualFold(seen.Title, culprits[0].Suspect.Title) || seen.Marked == 0) {
			t.Errorf("%s: %+v", name, seen)
		}
		// A closer look has tables of its own (locks, calls, functions): each is shown.
		tables := len(New(v, limits[0]).Tables)
		if seen.Hops == 0 || seen.Tables != tables || tables < 8 || seen.AnswerBottom > 800 || seen.RemedyBottom > 800 || seen.Bar > 1280 {
			t.Errorf("%s: %+v", name, seen)
		}
	}
}

const sick = "../../lab/recordings/process-stopped-sick.snag"

// inView is what part of the window the timeline and every chart show.
const inView = `(() => { const t = document.querySelector('svg.timeline').dataset; return [Number(t.from), Number(t.to)] })()`

func TestDragZoomsEveryChart(t *testing.T) {
	c := browser(t)
	c.size(1280, 2400)
	c.open(pageOf(t, sick))
	charts := func() (out []string) { // what is drawn, pixel by pixel
		c.eval(`[...document.querySelectorAll('.chart canvas')].map(x => x.toDataURL())`, &out)
		return out
	}
	var whole, part []float64
	c.eval(inView, &whole)
	before := charts()
	if len(before) < 3 {
		t.Fatalf("%d charts", len(before))
	}
	box := func(selector string) (b struct{ X, Y, Width, Height float64 }) {
		c.eval(fmt.Sprintf(`(() => { const b = document.querySelector(%q).getBoundingClientRect(); return {x: b.x, y: b.y, width: b.width, height: b.height} })()`, selector), &b)
		return b
	}
	for _, place := range []string{"#timebox", ".chart .u-over"} {
		b := box(place)
		from, to := b.X+b.Width*0.5, b.X+b.Width*0.75
		c.drag(from, b.Y+b.Height/2, to, b.Y+b.Height/2)
		c.eval(inView, &part)
		if part[1]-part[0] >= 0.6*(whole[1]-whole[0]) || part[1] <= part[0] {
			t.Fatalf("a drag over %s shows %v of %v", place, part, whole)
		}
		for i, now := range charts() {
			if now == before[i] {
				t.Errorf("chart %d did not follow a drag over %s", i, place)
			}
		}
		c.eval(`document.getElementById('whole').click()`, nil)
		c.settle()
		c.eval(inView, &part)
		if part[0] != whole[0] || part[1] != whole[1] {
			t.Errorf("the button shows %v, not the whole %v", part, whole)
		}
	}
	for _, complaint := range c.complaints() {
		t.Error(complaint)
	}
}

func TestKeyboard(t *testing.T) {
	c := browser(t)
	c.size(1280, 800)
	c.open(pageOf(t, sick))
	// Tab reaches everything that can be done, and each place is seen.
	c.key("Tab", 0)
	var first string
	c.eval(`document.activeElement.textContent`, &first)
	if !strings.HasPrefix(first, "Skip") {
		t.Errorf("the first stop is %q", first)
	}
	reached := map[string]bool{}
	for range 60 {
		var at struct {
			Place string
			Ring  bool
		}
		c.eval(`(() => { const e = document.activeElement, s = getComputedStyle(e); return {place: e.id || e.getAttribute('class') || e.tagName, ring: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2} })()`, &at)
		reached[at.Place] = true
		if !at.Ring && at.Place != "BODY" { // past the last stop
			t.Errorf("%s has the focus and no ring", at.Place)
		}
		c.key("Tab", 0)
	}
	for _, place := range []string{"theme", "copy", "timebox", "plot", "SUMMARY"} {
		if !reached[place] {
			t.Errorf("Tab does not reach %s: %v", place, reached)
		}
	}
	c.eval(`document.getElementById('timebox').focus()`, nil)
	var before, after []float64
	var now string
	c.eval(inView, &before)
	c.key("ArrowRight", 0)
	c.eval(`document.querySelector('.now').textContent`, &now)
	if !strings.HasSuffix(now, "UTC") {
		t.Errorf("the cursor says %q", now)
	}
	c.key("+", 0)
	c.eval(inView, &after)
	if after[1]-after[0] >= before[1]-before[0] {
		t.Errorf("+ shows %v of %v", after, before)
	}
	zoomed := slices.Clone(after) // the next is read into the same array
	c.key("ArrowRight", 8)
	c.eval(inView, &after)
	if after[0] <= zoomed[0] {
		t.Errorf("Shift and right arrow moved from %v to %v", zoomed, after)
	}
	c.key("Home", 0)
	c.eval(inView, &after)
	if after[0] != before[0] || after[1] != before[1] {
		t.Errorf("Home shows %v, not %v", after, before)
	}
}

func TestTablesSortAndFilter(t *testing.T) {
	c := browser(t)
	c.size(1280, 800)
	c.open(pageOf(t, "../../lab/recordings/listen-overflow-sick.snag"))
	c.eval(`document.querySelector('#table-sockets').open = true`, nil)
	c.settle()
	column := `[...document.querySelectorAll('#table-sockets tbody tr')].map(r => [...r.cells][%d].textContent)`
	var local, sorted, filtered []string
	c.eval(fmt.Sprintf(column, 4), &local)
	c.eval(`[...document.querySelectorAll('#table-sockets th button')][4].click()`, nil)
	c.eval(fmt.Sprintf(column, 4), &sorted)
	if len(sorted) < 5 || len(sorted) != len(local) || strings.Join(sorted, " ") == strings.Join(local, " ") {
		t.Fatalf("%d rows, sorted %d", len(local), len(sorted))
	}
	c.eval(`(() => { const i = document.querySelector('#table-sockets input'); i.value = 'listen'; i.dispatchEvent(new Event('input')) })()`, nil)
	c.eval(fmt.Sprintf(column, 4), &filtered)
	if len(filtered) == 0 || len(filtered) >= len(sorted) {
		t.Errorf("%d of %d rows are left by the filter", len(filtered), len(sorted))
	}
}

func TestThemesAndContrast(t *testing.T) {
	c := browser(t)
	c.size(1280, 800)
	grounds := map[string]string{}
	for _, name := range []string{"process-stopped-sick", "reconnect-storm-sick", "listen-overflow-healthy", "beside a baseline"} {
		var html []byte
		if name == "beside a baseline" { // flame graphs in their other colours
			var err error
			if html, err = render(beside(t)); err != nil {
				t.Fatal(err)
			}
		} else {
			html = pageOf(t, "../../lab/recordings/"+name+".snag")
		}
		for _, theme := range []string{"light", "dark"} {
			c.prefer(theme)
			c.open(html)
			c.eval(`document.querySelectorAll('details').forEach(d => { d.open = true })`, nil)
			c.settle()
			var poor []string
			c.eval(contrast, &poor)
			for _, p := range poor {
				t.Errorf("%s, %s: %s", name, theme, p)
			}
			var ground string
			c.eval(`getComputedStyle(document.body).backgroundColor`, &ground)
			grounds[theme] = ground
			var canvas, other string
			c.eval(`document.querySelector('.chart canvas')?.toDataURL() ?? ''`, &canvas)
			c.eval(`document.getElementById('theme').click()`, nil)
			c.settle()
			c.eval(`getComputedStyle(document.body).backgroundColor`, &ground)
			c.eval(`document.querySelector('.chart canvas')?.toDataURL() ?? ''`, &other)
			if ground == grounds[theme] || canvas != "" && canvas == other {
				t.Errorf("%s: the button changes nothing from %s", name, theme)
			}
		}
	}
	if grounds["light"] == grounds["dark"] {
		t.Error("the system's theme changes nothing")
	}
}

// contrast names every text whose ink and ground are nearer than WCAG AA allows:
// 4.5:1, 3:1 for text of 24 px, or 18.66 px bold.
const contrast = `(() => {
	const rgb = s => { const m = s.match(/[\d.]+/g).map(Number); if (s.startsWith('color(')) for (let i = 0; i < 3; i++) m[i] *= 255; return m.length < 4 ? [...m.slice(0, 3), 1] : m };
	const lum = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 }); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
	const ground = e => { for (; e; e = e.parentElement) {
		if (e.matches && e.matches('g.hop, g.frame')) return rgb(getComputedStyle(e.querySelector('rect')).fill);
		const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] > 0.99) return c } return [255, 255, 255, 1] };
	const out = new Set(); let n = 0;
	const walk = document.createTreeWalker(document.getElementById('page'), NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || e.closest('title, .skip') || e.checkVisibility && !e.checkVisibility()) continue;
		n++;
		const s = getComputedStyle(e), ink = rgb(e instanceof SVGElement ? s.fill : s.color), size = parseFloat(s.fontSize);
		const [a, b] = [lum(ink.slice(0, 3)), lum(ground(e).slice(0, 3))].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
		const large = size >= 24 || size >= 18.66 && s.fontWeight >= 700;
		if (ratio < (large ? 3 : 4.5)) out.add(ratio.toFixed(2) + ' ' + e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + walk.currentNode.data.slice(0, 30));
	}
	if (n < 50) out.add('only ' + n + ' texts were looked at');
	return [...out] })()`

func TestPaper(t *testing.T) {
	c := browser(t)
	c.size(1280, 800)
	c.prefer("dark")
	c.open(pageOf(t, sick))
	c.eval(`window.printed = null; window.addEventListener('beforeprint', () => { window.printed = {
		shut: document.querySelectorAll('details:not([open]):not(.stack)').length, rows: document.querySelectorAll('tbody tr').length, theme: document.documentElement.dataset.theme } })`, nil)
	var pdf struct{ Data string }
	c.call("Page.printToPDF", map[string]any{"printBackground": true, "preferCSSPageSize": true}, &pdf)
	b, err := base64.StdEncoding.DecodeString(pdf.Data)
	if err != nil || len(b) < 30_000 || !strings.HasPrefix(string(b), "%PDF") {
		t.Errorf("%d bytes of PDF (%v)", len(b), err)
	}
	var printed struct {
		Shut, Rows int
		Theme      string
	}
	c.eval(`window.printed`, &printed)
	if printed.Shut != 0 || printed.Rows < 50 || printed.Theme != "light" {
		t.Errorf("on paper: %+v", printed)
	}
	var open int
	c.eval(`document.querySelectorAll('details.table[open]').length`, &open)
	if open != 0 {
		t.Errorf("%d tables stay open after printing", open)
	}
}

// TestNamesAreText: what a process or a reason calls itself never becomes markup.
func TestNamesAreText(t *testing.T) {
	const evil = `</script><script>window.caught=1</script><img src=x onerror=window.caught=2>"'&`
	src, err := os.ReadFile("../../suspects/testdata/udp-receive-buffer-full/guilty.txtar")
	if err != nil {
		t.Fatal(err)
	}
	k, err := rectest.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	r := k.Recording
	r.Manifest.Host, r.Manifest.Symptoms = evil, []string{evil}
	r.Damage = []string{evil}
	for i := range r.Sockets {
		for j := range r.Sockets[i].Owners {
			r.Sockets[i].Owners[j].Comm = evil
		}
	}
	for i := range r.Processes {
		r.Processes[i].Comm = evil
	}
	for i := range r.Drops {
		r.Drops[i].Device, r.Drops[i].Comm = evil, evil
	}
	for i := range r.Coverage {
		r.Coverage[i].Why, r.Coverage[i].Cure = evil, evil
	}
	html, err := render(verdict.Judge(r))
	if err != nil {
		t.Fatal(err)
	}
	c := browser(t)
	c.open(html)
	c.eval(`document.querySelectorAll('details').forEach(d => { d.open = true })`, nil)
	c.settle()
	var seen struct {
		Caught, Images int
		Text           bool
	}
	c.eval(`({caught: window.caught ?? 0, images: document.images.length, text: document.querySelector('.answer .subject').textContent.includes('<script>')})`, &seen)
	if seen.Caught != 0 || seen.Images != 0 || !seen.Text {
		t.Errorf("%+v", seen)
	}
	for _, complaint := range c.complaints() {
		t.Error(complaint)
	}
	// And if it did, the policy would not let it run.
	c.eval(`(() => { const s = document.createElement('script'); s.textContent = 'window.caught = 3'; document.body.append(s) })()`, nil)
	c.eval(`({caught: window.caught ?? 0})`, &seen)
	if seen.Caught != 0 {
		t.Error("the policy lets a foreign script run")
	}
}
