package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fakeServe answers as snag serve does: three kinds of incidents, of which one goes on.
type fakeServe struct {
	looks atomic.Int64
	quiet atomic.Bool  // the recorder has stopped
	out   atomic.Bool  // the session is over
	later atomic.Int64 // ns that its clock is ahead
	began time.Time
}

func (f *fakeServe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/state.json" {
		b, policy := Board("snag on web1"), BoardPolicy()
		if f.out.Load() {
			b, policy = Login("This is not the token.", "/"), LoginPolicy()
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(b)
		return
	}
	if f.out.Load() {
		http.Error(w, "send the token", http.StatusUnauthorized)
		return
	}
	f.looks.Add(1)
	now := f.began
	named := func(name, text string) []map[string]string {
		return []map[string]string{{"name": name, "subject": "stream-origin.service nginx[27516] listening on 10.80.1.1:8080 (netns snaglab-server)", "text": text, "harm": "held up 12 requests on average, 83 % of their waiting"}}
	}
	incident := func(id int, ago, took time.Duration, culprit, text string) map[string]any {
		i := map[string]any{"id": id, "start": now.Add(-ago), "standing": "culprit", "hurt": true, "judgements": 2, "symptoms": named("request-latency", "answers take 5.1 times as long")}
		if culprit != "" {
			i["culprits"] = named(culprit, text)
		}
		if took > 0 {
			i["end"] = now.Add(took - ago)
		}
		return i
	}
	open := incident(12, 3*time.Minute, 0, "listen-overflow", "its accept queue of 5 ran over 795 times <script>alert(1)</script>")
	group := func(last map[string]any, n int) map[string]any {
		times := []map[string]any{{"id": last["id"], "start": last["start"], "end": last["end"]}}
		for k := 1; k < n; k++ {
			start := now.Add(-time.Duration(k) * 5 * time.Hour)
			times = append(times, map[string]any{"id": 12 - k, "start": start, "end": start.Add(20 * time.Minute)})
		}
		return map[string]any{"last": last, "times": times}
	}
	s := map[string]any{
		"host": "web1", "now": time.Now().Add(time.Duration(f.later.Load())), "recorder": map[string]any{"running": !f.quiet.Load(), "since": now.Add(-26 * time.Hour), "last": now.Add(-time.Minute)}, "all": 9, "affected": []any{},
		"groups": []any{group(open, 6), group(incident(5, 7*time.Hour, 4*time.Minute, "runtime-pause", "its JVM stopped for 4.1 s in every 30 s"), 2), group(incident(2, 20*time.Hour, time.Minute, "", ""), 1)},
	}
	if !f.quiet.Load() {
		s["affected"] = []any{open}
	}
	json.NewEncoder(w).Encode(s)
}

func TestTheBoard(t *testing.T) {
	f := &fakeServe{began: time.Now()}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	c := browser(t)
	text := func() (s string) { c.eval(`document.getElementById('page').innerText`, &s); return s }
	for _, width := range []int{1280, 390} {
		for _, theme := range []string{"light", "dark"} {
			c.prefer(theme)
			c.size(width, 900)
			was := f.looks.Load()
			c.visit(server.URL + "/")
			await(t, "the first look", func() bool { return f.looks.Load() > was })
			c.settle()
			all := text()
			for _, want := range []string{"AFFECTED FOR ", "listen-overflow", "<script>alert(1)</script>", "no culprit proved: request-latency", "6 times, last", "goes on", "lasted 4 min"} {
				if !strings.Contains(all, want) {
					t.Errorf("%d px: no %q in\n%s", width, want, all)
				}
			}
			var wide float64
			c.eval(`document.documentElement.scrollWidth`, &wide)
			if int(wide) > width {
				t.Errorf("at %d px the page is %g px wide", width, wide)
			}
			var poor []string
			c.eval(contrast, &poor)
			for _, p := range poor {
				if !strings.HasPrefix(p, "only ") {
					t.Errorf("%d px, %s: %s", width, theme, p)
				}
			}
			var bars []int
			c.eval(`[...document.querySelectorAll('.strip')].map(s => s.querySelectorAll('rect').length)`, &bars)
			if fmt.Sprint(bars) != "[6 2 1]" {
				t.Errorf("bars: %v", bars)
			}
			for _, complaint := range c.console {
				t.Error(complaint)
			}
		}
	}
	// What somebody has in focus stays while nothing new has come, also when the minute is another and all is
	// drawn again.
	for _, link := range []string{".board a", "#now a"} {
		c.eval(`document.querySelector('`+link+`').focus()`, nil)
		var before, after string
		c.eval(`document.activeElement.textContent`, &before)
		f.later.Add(int64(time.Minute))
		was := f.looks.Load()
		await(t, "another look", func() bool { return f.looks.Load() > was+1 })
		c.settle()
		c.eval(`document.activeElement.textContent`, &after)
		if before == "" || after != before {
			t.Errorf("the focus was on %q and is on %q", before, after)
		}
	}
	f.quiet.Store(true)
	await(t, "that the recorder has stopped", func() bool { return strings.Contains(text(), "Nothing has been recorded since") })
	if all := text(); strings.Contains(all, "No client and no stream") {
		t.Errorf("what is not measured is said to be well:\n%s", all)
	}
	f.out.Store(true)
	await(t, "the form", func() bool {
		var n int
		c.eval(`document.querySelectorAll('form[action="/login"] input[type=password]').length`, &n)
		return n == 1
	})
}

// Where the server is gone the page says so, and of when it is what it shows.
func TestABoardWithoutItsServer(t *testing.T) {
	f := &fakeServe{began: time.Now()}
	server := httptest.NewServer(f)
	c := browser(t)
	c.size(1280, 900)
	c.visit(server.URL + "/")
	await(t, "the first look", func() bool { return f.looks.Load() > 0 })
	server.Close()
	await(t, "that nobody answers", func() bool {
		var shown string
		c.eval(`document.querySelector('.warning:not([hidden])')?.textContent ?? ''`, &shown)
		return strings.Contains(shown, "Is snag serve still running?")
	})
}
