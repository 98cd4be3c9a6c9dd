package page

import (
	"fmt"
	"strings"
	"testing"

	"snag/recording"
	"snag/report/page/streams/streamstest"
	"snag/verdict"
)

// manyStreams are n streams of one minute, of which one is frozen at the end and one was.
func manyStreams(n int) *recording.Recording {
	m := streamstest.New(60)
	for i := range n {
		of := streamstest.Well
		switch i {
		case n / 2:
			of = streamstest.FrozenAt(50, 99)
		case n / 3:
			of = streamstest.FrozenAt(20, 24)
		}
		m.Stream(streamstest.Cam(i), 60, of)
	}
	m.Event(streamstest.Cam(n/2), recording.EventStreamFreeze, 50, 0, nil)
	m.Event(streamstest.Cam(n/3), recording.EventStreamFreeze, 20, 24, nil)
	return m.Recording()
}

// aDay is one stream over 24 hours, which froze for two seconds once.
func aDay() *recording.Recording {
	const day = 24 * 3600
	m := streamstest.New(day)
	m.Stream(streamstest.Cam(1), day, streamstest.FrozenAt(50_000, 50_002))
	m.Event(streamstest.Cam(1), recording.EventStreamFreeze, 50_000, 50_002, nil)
	return m.Recording()
}

// layered is one stream at three places, hurt between the first and the second.
func layered() *recording.Recording {
	m := streamstest.New(60)
	for _, place := range []string{"ingest", "origin", "edge"} {
		k := streamstest.Key{Name: "live/match", Layer: place}
		if place == "ingest" {
			m.Stream(k, 60, streamstest.Well)
			continue
		}
		m.Stream(k, 60, streamstest.FrozenAt(20, 24))
		m.Event(k, recording.EventStreamFreeze, 20, 24, nil)
	}
	m.R.StreamHops = []recording.StreamHop{{Name: "live/match", From: "ingest", To: "origin"}, {Name: "live/match", From: "origin", To: "edge"}}
	return m.Recording()
}

func streamsPage(t testing.TB, r *recording.Recording) []byte {
	t.Helper()
	out, err := render(verdict.Judge(r))
	if err != nil {
		t.Fatal(err)
	}
	if len(out) > MaxBytes {
		t.Fatalf("%d bytes", len(out))
	}
	return out
}

func (c *chrome) complain(t *testing.T) {
	t.Helper()
	for _, complaint := range c.complaints() {
		t.Error(complaint)
	}
}

// openedIs what the page shows of an opened stream.
type openedIs struct {
	Rows, Charts, Marks, Chosen int
	First, Title, Facts, Hash   string
	Wide                        float64
}

const openedNow = `(() => { const q = s => document.querySelectorAll(s), t = s => (document.querySelector(s) ?? {textContent: ''}).textContent; return {
	rows: q('#streams tbody tr').length, charts: q('.course canvas').length, marks: q('.stream-marks .span').length, chosen: q('#streams tr.chosen').length,
	first: t('#streams tbody tr'), title: t('.opened h3'), facts: t('.opened'), hash: location.hash, wide: document.documentElement.scrollWidth} })()`

func TestStreamsOpen(t *testing.T) {
	c := browser(t)
	c.size(1280, 1600)
	c.open(streamsPage(t, manyStreams(1000)))
	var is openedIs
	c.eval(openedNow, &is)
	// All are counted, a part is drawn, and the worst is opened.
	if is.Rows != 100 || !strings.Contains(is.First, "FROZEN") || !strings.HasPrefix(is.Title, "live/cam500 FROZEN") || is.Charts < 6 || is.Marks < 3 || is.Chosen != 1 {
		t.Errorf("%+v", is)
	}
	var totals string
	c.eval(`document.querySelector('.totals').textContent`, &totals)
	if totals != "1,000 streams: 1 FROZEN, 999 ok" {
		t.Error(totals)
	}
	c.eval(`(() => { const i = document.querySelector('#streams input'); i.value = 'cam33 ok'; i.dispatchEvent(new Event('input')) })()`, nil)
	c.eval(openedNow, &is)
	if is.Rows != 11 { // cam33 and cam330 to cam339
		t.Errorf("%d rows are left by the filter", is.Rows)
	}
	// Enter on a link, and a click on a row, open a stream; the link says which.
	c.eval(`document.querySelector('#streams tbody a').focus()`, nil)
	c.key("Enter", 0)
	c.settle()
	c.eval(openedNow, &is)
	if !strings.HasPrefix(is.Title, "live/cam333 ok") || is.Hash != "#stream=live%2Fcam333" || is.Marks != 3 {
		t.Errorf("after Enter: %+v", is)
	}
	c.eval(`document.querySelectorAll('#streams tbody tr')[1].cells[3].click()`, nil)
	c.settle()
	c.eval(openedNow, &is)
	if strings.HasPrefix(is.Title, "live/cam333") || is.Charts < 6 {
		t.Errorf("after a click: %+v", is)
	}
	c.complain(t)
}

// However many there are, a page stays small and says what is not on it.
func TestStreamsStaySmall(t *testing.T) {
	v := verdict.Judge(manyStreams(3000))
	html, err := render(v)
	if err != nil || len(html) > MaxBytes {
		t.Errorf("%d bytes (%v)", len(html), err)
	}
	d := New(v, limits[0])
	if len(d.Streams.Rows) != 2000 || d.Streams.Total != 3000 || d.Streams.Rows[0].Name != "live/cam1500" || !strings.Contains(strings.Join(d.LeftOut, "; "), "1,000 streams") {
		t.Errorf("%d of %d rows, %s first, left out: %q", len(d.Streams.Rows), d.Streams.Total, d.Streams.Rows[0].Name, d.LeftOut)
	}
}

func TestStreamsSort(t *testing.T) {
	c := browser(t)
	c.open(streamsPage(t, manyStreams(30)))
	names := `[...document.querySelectorAll('#streams tbody tr')].map(r => r.dataset.id).slice(0, 3).join(' ')`
	for _, click := range []struct{ head, want string }{
		{"stream", "live/cam0 live/cam1 live/cam2"}, {"stream", "live/cam29 live/cam28 live/cam27"}, {"frozen s", "live/cam15 live/cam10 live/cam0"},
	} {
		var got string
		c.eval(fmt.Sprintf(`[...document.querySelectorAll('#streams th button')].find(b => b.textContent === %q).click()`, click.head), nil)
		if c.eval(names, &got); got != click.want {
			t.Errorf("by %s: %s, not %s", click.head, got, click.want)
		}
	}
}

func TestADragZoomsTheStreamToo(t *testing.T) {
	c := browser(t)
	c.size(1280, 2400)
	c.open(streamsPage(t, manyStreams(3)))
	charts := func() (out []string) {
		c.eval(`[...document.querySelectorAll('.course canvas')].map(x => x.toDataURL())`, &out)
		return out
	}
	before := charts()
	var b struct{ X, Y, Width, Height float64 }
	c.eval(`(() => { const b = document.querySelector('.course .u-over').getBoundingClientRect(); return {x: b.x, y: b.y, width: b.width, height: b.height} })()`, &b)
	c.drag(b.X+b.Width*0.2, b.Y+b.Height/2, b.X+b.Width*0.5, b.Y+b.Height/2)
	var part []float64
	c.eval(inView, &part)
	if part[1]-part[0] > 25 {
		t.Errorf("the timeline shows %v", part)
	}
	after := charts()
	for i := range before {
		if after[i] == before[i] {
			t.Errorf("chart %d did not follow", i)
		}
	}
	c.complain(t)
}

func TestTwoAreCompared(t *testing.T) {
	c := browser(t)
	c.size(1280, 1600)
	c.open(streamsPage(t, manyStreams(30)))
	lines := `[...document.querySelectorAll('.course')].find(f => f.textContent.startsWith('Frames')).querySelectorAll('.lines li')`
	var one, two, labels string
	c.eval(`String(`+lines+`.length)`, &one)
	c.eval(`(() => { const i = document.querySelector('.beside'); i.value = 'live/cam10'; i.dispatchEvent(new Event('change')) })()`, nil)
	c.settle()
	c.eval(`String(`+lines+`.length)`, &two)
	c.eval(`[...`+lines+`].map(e => e.textContent).join()`, &labels)
	if one != "1" || two != "2" || !strings.Contains(labels, "live/cam10") {
		t.Errorf("%s and then %s lines: %s", one, two, labels)
	}
	// Two times of one stream.
	var hash string
	c.eval(`(() => { const i = document.querySelector('.beside'); i.value = ''; const b = document.querySelector('.by'); b.value = '30'; b.dispatchEvent(new Event('change')) })()`, nil)
	c.settle()
	c.eval(`location.hash`, &hash)
	c.eval(`[...`+lines+`].map(e => e.textContent).join()`, &labels)
	if hash != "#stream=live%2Fcam15&beside=live%2Fcam15&by=30" || !strings.Contains(labels, "30 s later") {
		t.Errorf("%s: %s", hash, labels)
	}
	c.complain(t)
}

func TestPlacesStandSideBySide(t *testing.T) {
	c := browser(t)
	c.size(1280, 1600)
	c.open(streamsPage(t, layered()))
	var is struct {
		Places, Lines string
		Hurt          string
	}
	c.eval(`({places: document.querySelector('.places').textContent, hurt: document.querySelector('.place.hurt').textContent,
		lines: [...document.querySelectorAll('.course')].find(f => f.textContent.startsWith('Frames')).querySelector('.lines').textContent})`, &is)
	var lanes string
	c.eval(`[...document.querySelectorAll('.stream-marks .row-label')].map(e => e.lastChild.textContent).slice(0, 3).join('; ')`, &lanes)
	if lanes != "freeze, origin; freeze, edge; let in, ingest" {
		t.Errorf("rows of marks: %s", lanes)
	}
	if !strings.Contains(is.Places, "between ingest and origin") || !strings.HasPrefix(is.Hurt, "origin") {
		t.Errorf("%+v", is)
	}
	for _, place := range []string{"ingest", "origin", "edge"} {
		if !strings.Contains(is.Lines, place) {
			t.Errorf("no line of %s: %s", place, is.Lines)
		}
	}
	c.complain(t)
}

// A link with # opens its stream; one of a stream that is not there says so.
func TestALinkOpensAStream(t *testing.T) {
	c := browser(t)
	c.open(streamsPage(t, manyStreams(30)))
	for id, want := range map[string]string{"live%2Fcam7": "live/cam7 ok", "no%2Fsuch": "no stream no/such", "%E0%A4%A": "no stream %E0%A4%A"} {
		var text string
		c.eval(`location.hash = '#stream=`+id+`'`, nil)
		c.settle()
		c.eval(`document.querySelector('.opened').textContent`, &text)
		if !strings.Contains(text, want) {
			t.Errorf("%s: %s", id, text)
		}
	}
	c.complain(t)
}

// What a stream calls itself is text; nothing that is to be kept to oneself is on the page.
func TestStreamsAreText(t *testing.T) {
	const evil = `</script><script>window.caught=1</script><img src=x onerror=window.caught=2>"'&`
	m := streamstest.New(60)
	k := streamstest.Key{Name: evil, Layer: evil}
	m.Stream(k, 60, streamstest.Well)
	m.Stream(streamstest.Key{Name: evil, Layer: "b"}, 60, streamstest.Well)
	m.Event(k, recording.EventStreamFreeze, 20, 24, map[string]string{"why": evil})
	m.R.Streams[0].Video, m.R.Streams[0].Protocol, m.R.Streams[0].Error, m.R.Streams[0].URL = evil, evil, evil, evil
	c := browser(t)
	c.size(1280, 1600)
	c.open(streamsPage(t, m.Recording()))
	var seen struct {
		Caught, Images int
		Title          string
	}
	c.eval(`({caught: window.caught ?? 0, images: document.images.length, title: document.querySelector('.opened h3').textContent})`, &seen)
	if seen.Caught != 0 || seen.Images != 0 || !strings.HasPrefix(seen.Title, evil) {
		t.Errorf("%+v", seen)
	}
	c.complain(t)
}

func TestStreamsInBothThemesAndNarrow(t *testing.T) {
	c := browser(t)
	html := streamsPage(t, layered())
	many := streamsPage(t, manyStreams(30))
	for _, theme := range []string{"light", "dark"} {
		c.prefer(theme)
		for _, width := range []int{390, 1280, 1920} {
			c.size(width, 1400)
			for _, page := range [][]byte{html, many} {
				c.open(page)
				var poor []string
				var is openedIs
				c.eval(contrast, &poor)
				for _, p := range poor {
					t.Errorf("%s at %d: %s", theme, width, p)
				}
				if c.eval(openedNow, &is); is.Wide > float64(width) || is.Charts < 6 {
					t.Errorf("%s: %v wide of %d, %d charts", theme, is.Wide, width, is.Charts)
				}
			}
		}
	}
	c.complain(t)
}
