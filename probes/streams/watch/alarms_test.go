package watch

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var frozen = Alarm{Event: AlarmFreeze, Stream: "live/cam1", URL: "rtmp://a/live/cam1?key=…", Onset: epoch, For: 3200 * time.Millisecond, Verdict: "only this one"}

func callOf(alarms ...Alarm) Call { return Call{ID: "1", At: epoch, Alarms: alarms} }

// tickWith hands in what is wrong at now, and waits for what is done about it.
func tickWith(a *Alarms, now time.Time, others int, alarms ...Alarm) {
	var all []raised
	for _, alarm := range alarms {
		all = append(all, raised{alarm, alarm.Event == AlarmWell})
	}
	a.Tick(context.Background(), all, others, now)
	a.done.Wait()
}

func TestCommandGetsTheAlarmAndNoShell(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	script := filepath.Join(t.TempDir(), "act")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nenv | grep ^SNAG_ | sort > \"$1\"\necho \"$2\" >> \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, own := range os.Environ() { // whoever runs the tests may have some
		if name, _, _ := strings.Cut(own, "="); strings.HasPrefix(name, "SNAG_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	c := Command{Argv: []string{script, out, "$(reboot); `x`"}, Timeout: 10 * time.Second}
	if err := c.Do(context.Background(), callOf(frozen)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := `SNAG_EVENT=freeze
SNAG_ONSET=2026-11-21T03:00:00Z
SNAG_SECONDS=3.200
SNAG_STREAM=live/cam1
SNAG_URL=rtmp://a/live/cam1?key=…
SNAG_VERDICT=only this one
$(reboot); ` + "`x`\n"
	if string(b) != want {
		t.Errorf("it got\n%s", b)
	}
}

// What the host's recording told is told on; what is not known is not there, and
// nothing that another snag said of another stream.
func TestCommandGetsTheVerdict(t *testing.T) {
	t.Setenv("SNAG_CULPRIT", "yesterday's")
	t.Setenv("SNAG_VERDICT", "yesterday's")
	t.Setenv("SNAG_HOME", "the user's own")
	judged := frozen
	judged.Verdict = ""
	none := map[string]string{"SNAG_HOME": "the user's own", "SNAG_CULPRIT": "", "SNAG_VERDICT": "", "SNAG_CONFIDENCE": "", "SNAG_RECORDING": "", "SNAG_LAYER": ""}
	named := map[string]string{"SNAG_CULPRIT": "encoder-stall", "SNAG_SUBJECT": "ffmpeg[40]", "SNAG_CONFIDENCE": "0.97", "SNAG_VERDICT": "it stalls", "SNAG_RECORDING": "/tmp/x/3"}
	unnamed := map[string]string{"SNAG_CULPRIT": "", "SNAG_CONFIDENCE": "", "SNAG_VERDICT": "nobody", "SNAG_RECORDING": "/tmp/x/3"}
	for _, c := range []struct {
		judged  *Judged
		verdict string
		want    map[string]string
	}{
		{nil, "", none},
		{&Judged{Culprit: "encoder-stall", Subject: "ffmpeg[40]", Confidence: 0.973, Recording: "/tmp/x/3"}, "it stalls", named},
		{&Judged{Recording: "/tmp/x/3"}, "nobody", unnamed},
	} {
		judged.Judged, judged.Verdict = c.judged, c.verdict
		out := filepath.Join(t.TempDir(), "out")
		if err := (Command{Argv: []string{"sh", "-c", "env > " + out}, Timeout: 10 * time.Second}).Do(context.Background(), callOf(judged)); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for line := range strings.Lines(string(b)) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			got[name] = value
		}
		for name, want := range c.want {
			if value, there := got[name]; value != want || there != (want != "") {
				t.Errorf("%+v: %s is %q (there: %v), want %q", c.judged, name, value, there, want)
			}
		}
		body, err := json.Marshal(postOf(judged))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"culprit", "confidence", "subject", "verdict", "recording"} {
			want := c.want["SNAG_"+strings.ToUpper(name)]
			if strings.Contains(string(body), `"`+name+`"`) != (want != "") && name != "subject" {
				t.Errorf("%s of %s, want %q", name, body, want)
			}
		}
	}
}

// With a verdict on its way a command waits for it, and no longer than that; a
// webhook is told at once, and reported the verdict after.
func TestAlarmsAwaitTheVerdict(t *testing.T) {
	for _, well := range []bool{false, true} {
		action := &noted{}
		a := NewAlarms("x", action, DefaultLimits, well, func(string) {})
		alarm := frozen
		alarm.Awaited = true
		tickWith(a, epoch, 0, alarm)
		verdict := alarm
		verdict.Judged = &Judged{Culprit: "encoder-stall"}
		a.Judged([]Alarm{verdict})
		alarm.Awaited, alarm.Judged = false, verdict.Judged
		tickWith(a, epoch.Add(time.Second), 0, alarm)
		want := "freeze live/cam1"
		if well {
			want = "freeze live/cam1,verdict live/cam1"
		}
		if got := strings.Join(action.called, ","); got != want {
			t.Errorf("tells ends %v: called for %q, want %q", well, got, want)
		}
	}
}

func TestCommandThatFails(t *testing.T) {
	for _, c := range []struct {
		argv []string
		says string
	}{
		{[]string{"sh", "-c", "echo starting; printf '\\033[2Jno such unit' >&2; exit 5"}, `exit status 5; it printed: starting \x1b[2Jno such unit`},
		{[]string{"false"}, "it printed nothing"},
		{[]string{"sh", "-c", "sleep 60 & sleep 60"}, "had not ended after 0.5 s and was killed"},
		{[]string{"sh", "-c", "yes | head -c 1000000; exit 1"}, "it printed: …"},
	} {
		began := time.Now()
		err := Command{Argv: c.argv, Timeout: 500 * time.Millisecond}.Do(context.Background(), callOf(frozen))
		if err == nil || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 500 {
			t.Errorf("%v: %v", c.argv, err)
		}
		if time.Since(began) > 8*time.Second {
			t.Errorf("%v took %s", c.argv, time.Since(began))
		}
	}
	if err := (Command{Argv: []string{"no-such-program"}}).Check(); err == nil {
		t.Error("a command that is not there was not missed")
	}
}

func TestWebhook(t *testing.T) {
	var got map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(b, &got); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v %v", r.Method, r.Header, err)
		}
	}))
	defer server.Close()
	hook, err := NewWebhook(server.URL+"/hook?token=hunter2", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := hook.Do(context.Background(), callOf(frozen)); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"event": "freeze", "stream": "live/cam1", "url": "rtmp://a/live/cam1?key=…", "onset": "2026-11-21T03:00:00Z", "seconds": 3.2, "verdict": "only this one"} {
		if got[key] != want {
			t.Errorf("%s is %v", key, got[key])
		}
	}
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such channel", http.StatusNotFound) }))
	defer bad.Close()
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // or the server does not see that the client went away
		<-r.Context().Done()
	}))
	defer slow.Close()
	for url, says := range map[string]string{bad.URL: "404 Not Found: no such channel", slow.URL: "deadline", "http://127.0.0.1:1": "refused"} {
		hook, err := NewWebhook(url+"/?token=hunter2", 300*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		hook.Total = 0 // it is not posted again
		if err := hook.Do(context.Background(), callOf(frozen)); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := NewWebhook("ftp://x", 0); err == nil {
		t.Error("ftp is not a webhook")
	}
}

// noted is an action that notes what it is called for.
type noted struct {
	mu     sync.Mutex
	called []string
	calls  []Call
	err    error
}

func (n *noted) Do(_ context.Context, c Call) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.called = append(n.called, c.Alarms[0].Event+" "+strings.Join(names(c.Alarms), "+"))
	n.calls = append(n.calls, c)
	return n.err
}

func TestAlarms(t *testing.T) {
	action := &noted{err: errors.New("no such unit")}
	var mu sync.Mutex
	var said []string
	a := NewAlarms("--on-freeze", action, Limits{Least: 30 * time.Second, Most: time.Minute, PerMinute: 10, Tries: 2, Within: time.Hour, AllTries: 10, Heals: time.Minute}, true, func(s string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, s)
	})
	for s := range 3000 { // five minutes of ticks
		tickWith(a, epoch.Add(time.Duration(s)*100*time.Millisecond), 0, frozen)
	}
	if got := strings.Join(action.called, ","); got != "freeze live/cam1,freeze live/cam1" {
		t.Errorf("called for %s", got)
	}
	well := frozen
	well.Event = AlarmWell
	tickWith(a, epoch.Add(301*time.Second), 0, well)
	tickWith(a, epoch.Add(302*time.Second), 0, well)
	if got := len(action.called); got != 3 || action.called[2] != "well live/cam1" {
		t.Errorf("%v", action.called)
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{"called, frozen for 3.2 s", "no such unit", "2 actions in 30 s did not end its freezes: stopped for this stream", "reported as healthy again"} {
		if !strings.Contains(text, want) {
			t.Errorf("it did not say %q:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "stopped for this stream"); n != 1 {
		t.Errorf("said %d times that it stopped", n)
	}
}
