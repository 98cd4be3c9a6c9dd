package page

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"snag/recording"
	"snag/report/page/streams"
	"snag/report/page/streams/streamstest"
)

// fakeWatch answers as a running watch does: n streams, of which one froze at 500 s; where
// moves says so, another at each look. Each look finds it two seconds older.
type fakeWatch struct {
	n     int
	moves atomic.Bool
	age   atomic.Int64
	looks atomic.Int64
	down  atomic.Bool
}

func (f *fakeWatch) now() recording.Time { return streamstest.At(float64(600 + f.age.Load())) }

func (f *fakeWatch) inputs() (out []streams.Input) {
	for i := range f.n {
		k := streamstest.Cam(i)
		in := streams.Input{Row: streams.Row{Name: k.Name, Side: recording.StreamSidePlayer, Protocol: "rtmp", FPS: streams.Measured(25 + float64(f.age.Load()))}, State: streams.OK}
		frozen := f.n / 2
		if f.moves.Load() {
			frozen = int(f.age.Load()/2) % f.n
		}
		if i == frozen {
			in.State, in.Since = streams.Frozen, streamstest.At(500)
			in.Events = f.events()
		}
		out = append(out, in)
	}
	return out
}

func (f *fakeWatch) events() []recording.Event {
	return []recording.Event{{T: streamstest.At(500), Kind: recording.EventStreamFreeze, Subject: recording.Subject{Kind: recording.KindStream}}}
}

func (f *fakeWatch) course() (c streams.Course) {
	for at := streamstest.At(1); at <= f.now(); at = at.Add(time.Second) {
		c.T = append(c.T, at)
		for q := range streams.Quantities {
			v := math.NaN()
			if q < 3 || q == 6 {
				v = float64(at.Sub(streamstest.Start)/time.Second) / 20
			}
			c.Low[q], c.High[q] = append(c.Low[q], v), append(c.High[q], v)
		}
	}
	return c
}

func (f *fakeWatch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var answer any
	switch {
	case f.down.Load():
		http.Error(w, "gone", http.StatusServiceUnavailable)
		return
	case r.URL.Path == "/":
		w.Header().Set("Content-Security-Policy", LivePolicy())
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(Live("snag watch"))
		return
	case r.URL.Path == "/streams.json":
		f.looks.Add(1)
		f.age.Add(2)
		window := recording.Interval{Start: streamstest.Start, End: f.now()}
		answer = map[string]any{
			"start_ms": float64(streamstest.Start) / 1e6, "now": f.now().Sub(streamstest.Start).Seconds(), "begin": 0, "sick": 1, "own": "snag itself: 1 % of a CPU",
			"streams": streams.Live(f.inputs(), nil, window, streamstest.Start),
		}
	case r.URL.Path == "/courses.json":
		all := []streams.Detail{}
		for _, id := range r.URL.Query()["id"] {
			var events []recording.Event
			if id == streamstest.Cam(f.n/2).Name {
				events = f.events()
			}
			all = append(all, f.course().Detail(id, events, nil, streamstest.Start, 64))
		}
		answer = all
	default:
		http.NotFound(w, r)
		return
	}
	json.NewEncoder(w).Encode(answer)
}

// watching opens the page of a watch of n streams. Tests of one wait for its looks, beside
// each other.
func watching(t *testing.T, n int) (*chrome, *fakeWatch) {
	t.Helper()
	t.Parallel()
	f := &fakeWatch{n: n}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	c := browser(t)
	c.size(1280, 1200)
	c.visit(server.URL + "/")
	await(t, "the first look", func() bool { return f.looks.Load() > 0 })
	time.Sleep(300 * time.Millisecond) // it is drawn
	c.settle()
	return c, f
}

func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// again waits until the page has looked once more and has drawn it.
func (f *fakeWatch) again(t *testing.T, c *chrome) {
	t.Helper()
	was := f.looks.Load()
	await(t, "another look", func() bool { return f.looks.Load() > was })
	time.Sleep(300 * time.Millisecond)
	c.settle()
}

const marksShow = `(() => { const m = document.querySelector('.stream-marks').dataset; return [Number(m.from), Number(m.to)] })()`

// A page that looks again keeps what its reader did: zoom, the stream that is opened, filter,
// scroll and focus; and it shows what is new.
func TestALivePageKeepsItsReadersPlace(t *testing.T) {
	c, f := watching(t, 300)
	var first, now []float64
	c.eval(marksShow, &first)
	f.again(t, c)
	c.eval(marksShow, &now)
	if math.Abs(now[0]-first[0]-2) > 0.5 || math.Abs(now[1]-first[1]-2) > 0.5 {
		t.Errorf("%v became %v: it does not follow", first, now)
	}
	c.eval(`location.hash = '#stream=live%2Fcam7'`, nil)
	c.eval(`(() => { const i = document.querySelector('#streams input'); i.value = 'live'; i.dispatchEvent(new Event('input')); document.querySelector('.rows').scrollTop = 700;
		[...document.querySelectorAll('#streams th button')].find(b => b.textContent === 'stream').click();
		document.querySelector('#streams tbody tr:nth-child(30) a').focus({preventScroll: true}) })()`, nil)
	f.again(t, c)
	c.eval(`(() => { const b = document.querySelector('.course .plot'); b.focus({preventScroll: true}) })()`, nil)
	c.key("+", 0)
	c.key("+", 0)
	c.eval(`document.querySelector('#streams tbody tr:nth-child(30) a').focus({preventScroll: true})`, nil)
	type place struct {
		Shown                               []float64
		Opened, Filter, Focus, First, Value string
		Scroll                              float64
		Charts                              int
	}
	look := func() (p place) {
		c.eval(`({shown: `+marksShow+`, opened: document.querySelector('.opened h3').textContent, filter: document.querySelector('#streams input').value,
			focus: document.activeElement.textContent, first: document.querySelector('#streams tbody tr').dataset.id, value: document.querySelector('#streams tbody tr').cells[3].textContent,
			scroll: document.querySelector('.rows').scrollTop, charts: document.querySelectorAll('.course canvas').length})`, &p)
		return p
	}
	before := look()
	f.again(t, c)
	after := look()
	if after.Value == before.Value {
		t.Errorf("the table still says %s", after.Value)
	}
	after.Value, before.Value = "", ""
	if fmt.Sprint(before) != fmt.Sprint(after) || before.Scroll != 700 || !strings.HasPrefix(before.Opened, "live/cam7 ") || before.Focus != "live/cam29" || before.Charts < 3 || before.Shown[1]-before.Shown[0] > 200 {
		t.Errorf("%+v\n%+v", before, after)
	}
	for _, complaint := range c.console {
		t.Error(complaint)
	}
}

// Where the order of the rows changes, the focus stays on its stream, and the scroll.
func TestALivePageKeepsTheFocusInAnotherOrder(t *testing.T) {
	c, f := watching(t, 90)
	c.eval(`(() => { document.querySelector('.rows').scrollTop = 600; document.querySelector('[data-id="live/cam40"] a').focus({preventScroll: true}) })()`, nil)
	type place struct {
		Focus, First string
		Scroll       float64
	}
	look := func() (p place) {
		c.eval(`({focus: document.activeElement.textContent, first: document.querySelector('#streams tbody tr').dataset.id, scroll: document.querySelector('.rows').scrollTop})`, &p)
		return p
	}
	before := look()
	f.moves.Store(true)
	f.again(t, c)
	if after := look(); after.First == before.First || after.Focus != "live/cam40" || before.Focus != "live/cam40" || after.Scroll != 600 {
		t.Errorf("%+v became %+v", before, after)
	}
}

// A watch that is gone is said so, and what is shown stays; it goes on when it is back.
func TestALivePageSaysThatItsWatchIsGone(t *testing.T) {
	c, f := watching(t, 3)
	warned := func() (text string) {
		c.eval(`(() => { const e = document.querySelector('.warning'); return e.hidden ? '' : e.textContent })()`, &text)
		return text
	}
	if text := warned(); text != "" {
		t.Errorf("it says %q at the start", text)
	}
	f.down.Store(true)
	await(t, "a warning", func() bool { return strings.Contains(warned(), "503") })
	var rows int
	if c.eval(`document.querySelectorAll('#streams tbody tr').length`, &rows); rows != 3 {
		t.Errorf("%d rows stay", rows)
	}
	f.down.Store(false)
	await(t, "no warning", func() bool { return warned() == "" })
}

// A page that nobody sees does not look.
func TestAHiddenLivePageIsQuiet(t *testing.T) {
	c, f := watching(t, 3)
	c.eval(`(() => { Object.defineProperty(document, 'hidden', {value: true, configurable: true}); document.dispatchEvent(new Event('visibilitychange')) })()`, nil)
	time.Sleep(500 * time.Millisecond)
	was := f.looks.Load()
	time.Sleep(5 * time.Second)
	if n := f.looks.Load() - was; n != 0 {
		t.Errorf("%d looks while it is hidden", n)
	}
	c.eval(`(() => { Object.defineProperty(document, 'hidden', {value: false, configurable: true}); document.dispatchEvent(new Event('visibilitychange')) })()`, nil)
	await(t, "a look", func() bool { return f.looks.Load() > was })
}
