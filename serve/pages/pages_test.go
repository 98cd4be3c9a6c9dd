package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"snag/internal/web"
	"snag/recorder"
	"snag/serve/agent"
)

const token = "A2345678901234567890"

// aRing is a ring whose recorder writes, or stopped long ago, with these incidents.
func aRing(t *testing.T, running bool, all ...recorder.Incident) recorder.Ring {
	t.Helper()
	dir := t.TempDir()
	open := filepath.Join(dir, time.Now().Add(-time.Minute).UTC().Format("20060102T150405.000Z")+"-open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(open, "rows")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if old := time.Now().Add(-time.Hour); !running {
		for _, name := range []string{file, open} {
			if err := os.Chtimes(name, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, i := range all {
		folder := filepath.Join(dir, "incidents", fmt.Sprintf("%06d", i.ID))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(i)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "incident.json"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return recorder.Ring{Dir: dir}
}

func incident(id int, ended bool, culprit string) recorder.Incident {
	i := recorder.Incident{ID: id, Start: time.Now().Add(-2 * time.Minute), Judgements: 1, Finding: recorder.Finding{Standing: "culprit", Hurt: true}}
	if culprit != "" {
		i.Culprits = []recorder.Named{{Name: culprit, Subject: "app[7]", Text: "<b>8 workers</b>"}}
	}
	if ended {
		i.End = time.Now().Add(-time.Minute)
	}
	return i
}

// served is a site; made counts the pages that a command made.
func served(t *testing.T, ring recorder.Ring) (at string, made *atomic.Int32) {
	t.Helper()
	made = &atomic.Int32{}
	run := func(_ context.Context, c agent.Command) (agent.Output, error) {
		made.Add(1)
		argv, err := c.Argv()
		if err != nil {
			return agent.Output{}, err
		}
		if c.Args[0] == "3" {
			return agent.Output{}, errors.New("the recording is torn")
		}
		return agent.Output{JSON: []byte("<!doctype html>" + strings.Join(argv, " "))}, nil
	}
	server := httptest.NewUnstartedServer(nil)
	a := web.Of(server.Listener)
	server.Config.Handler = Handler(Options{
		At: a, Host: "web1", Ring: ring, Run: run, Access: NewAccess(token, a, false),
		MCP: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "tools") }),
	})
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, made
}

func ask(t *testing.T, method, at, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(all)
}

const bearer = "Authorization: Bearer " + token

func TestWhoMayRead(t *testing.T) {
	began := incident(1, true, "worker-queue")
	at, _ := served(t, aRing(t, true, began))
	form := "Content-Type: application/x-www-form-urlencoded"
	answer, _ := ask(t, "POST", at+"/login", "token="+url.QueryEscape(token), form)
	cookie := answer.Header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie is %q", cookie)
		}
	}
	if answer.StatusCode != 303 || strings.Contains(cookie, token) {
		t.Error(answer.Status, cookie)
	}
	session, _, _ := strings.Cut(cookie, ";")
	session = "Cookie: " + session
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
		says               string
	}{
		{"GET", "/", "", []string{"Accept: text/html"}, 401, `<form method="post"`},
		{"GET", "/", "", nil, 401, "Authorization: Bearer"},
		{"GET", "/state.json", "", nil, 401, "token"},
		{"GET", "/incident/1", "", nil, 401, "token"},
		{"GET", "/state.json?token=" + token, "", nil, 401, "token"}, // no address holds a secret
		{"GET", "/state.json", "", []string{"Authorization: Bearer wrong"}, 401, "token"},
		{"GET", "/state.json", "", []string{"Authorization: Basic " + token}, 401, "token"},
		{"GET", "/state.json", "", []string{"Cookie: " + strings.Split(session, "=")[0] + "=AAAA"}, 401, "token"},
		{"GET", "/", "", []string{bearer}, 200, `<div id="page">`},
		{"GET", "/state.json", "", []string{bearer}, 200, `"worker-queue"`},
		{"GET", "/state.json", "", []string{session}, 200, `"worker-queue"`},
		{"GET", "/incident/1", "", []string{session}, 200, "incidents show --html=-"},
		{"POST", "/state.json", "", []string{bearer}, 405, "only read"},
		{"GET", "/state.json", "", []string{bearer, "Host: evil.example"}, 421, "IP address"},
		{"POST", "/mcp", "", []string{bearer}, 200, "tools"},
		{"POST", "/mcp", "", []string{session}, 401, "token"}, // a page of another server could have a browser send it
		{"POST", "/mcp", "", nil, 401, "token"},
		{"POST", "/login", "token=wrong", []string{form}, 401, "This is not the token"},
		{"POST", "/login", "token=" + token, []string{form, "Origin: http://evil.example"}, 403, "another server"},
		{"POST", "/login", strings.Repeat("a", mostForm+1), []string{form}, 401, "not the token"},
		{"GET", "/incident/9", "", []string{bearer}, 404, "no incident 9"},
		{"GET", "/incident/x", "", []string{bearer}, 404, "a number"},
		{"GET", fmt.Sprintf("/incident/at/%d", began.Start.Unix()), "", []string{bearer}, 303, "/incident/1"},
		{"GET", fmt.Sprintf("/incident/at/%d", began.Start.Unix()), "", nil, 401, "token"},
		{"GET", "/incident/at/7", "", []string{bearer}, 404, "no incident began here at 1970-01-01T00:00:07Z"},
		{"GET", "/incident/at/noon", "", []string{bearer}, 404, "a second"},
		{"GET", "/nothing", "", []string{bearer}, 404, ""},
		{"POST", "/logout", "", []string{session, "Origin: http://evil.example"}, 405, ""},
		{"GET", "/state.json", "", []string{session}, 200, ""},
		{"POST", "/logout", "", []string{session}, 303, ""},
		{"GET", "/state.json", "", []string{session}, 401, ""},
	} {
		answer, body := ask(t, c.method, at+c.path, c.body, c.headers...)
		if answer.StatusCode != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s %s %v: %s %.200q", c.method, c.path, c.headers, answer.Status, body)
		}
		h := answer.Header
		if p := h.Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") || !strings.Contains(p, "frame-ancestors 'none'") || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %v", c.method, c.path, h)
		}
		if answer.StatusCode == 401 && strings.Contains(body, "worker-queue") {
			t.Errorf("%s %s: %s", c.method, c.path, body)
		}
	}
}

// A page is made once for all who read it, again after another judgement, and an error is not kept.
func TestPagesOfIncidents(t *testing.T) {
	ring := aRing(t, true, incident(1, false, "worker-queue"), incident(3, true, "disk-stall"))
	at, made := served(t, ring)
	for range 3 {
		if answer, body := ask(t, "GET", at+"/incident/1", "", bearer); answer.StatusCode != 200 || !strings.HasSuffix(body, " -- 1") {
			t.Error(answer.Status, body)
		}
	}
	if made.Load() != 1 {
		t.Errorf("made %d times", made.Load())
	}
	i := incident(1, true, "worker-queue")
	i.Judgements = 2
	b, _ := json.Marshal(i)
	if err := os.WriteFile(filepath.Join(ring.Dir, "incidents", "000001", "incident.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	ask(t, "GET", at+"/incident/1", "", bearer)
	for range 2 {
		if answer, body := ask(t, "GET", at+"/incident/3", "", bearer); answer.StatusCode != 500 || !strings.Contains(body, "the recording is torn") || !strings.Contains(body, "snag incidents show 3") {
			t.Error(answer.Status, body)
		}
	}
	if made.Load() != 4 {
		t.Errorf("made %d times", made.Load())
	}
}

func TestState(t *testing.T) {
	now := time.Now()
	killed := incident(1, false, "disk-stall") // its recorder was killed before it was over
	s := stateOf(aRing(t, true, killed, incident(2, true, "worker-queue"), incident(3, true, "worker-queue"), incident(4, false, "")), "web1", now)
	old := filepath.Join("incidents", "000001")
	if !s.Recorder.Running || s.All != 4 || len(s.Groups) != 3 || s.Groups[0].Last.ID != 4 || len(s.Groups[1].Times) != 2 || s.Groups[1].Times[0].ID != 3 || len(s.Affected) != 2 {
		t.Errorf("%+v", s)
	}
	ring := aRing(t, true, killed, incident(4, false, ""))
	hour := now.Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(ring.Dir, old), hour, hour); err != nil {
		t.Fatal(err)
	}
	if s := stateOf(ring, "web1", now); len(s.Affected) != 1 || s.Affected[0].ID != 4 {
		t.Errorf("%+v", s.Affected)
	}
	if s := stateOf(aRing(t, false, incident(4, false, "disk-stall")), "web1", now); s.Recorder.Running || len(s.Affected) != 0 || s.Recorder.Last.IsZero() {
		t.Errorf("a recorder that has stopped: %+v", s)
	}
	if s := stateOf(recorder.Ring{Dir: filepath.Join(t.TempDir(), "none")}, "web1", now); s.Recorder.Running || !strings.Contains(s.Recorder.Why, "snag record was not running") {
		t.Errorf("%+v", s.Recorder)
	}
	broken := aRing(t, true, incident(1, true, "a"))
	if err := os.WriteFile(filepath.Join(broken.Dir, "incidents", "000001", "incident.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := stateOf(broken, "web1", now); !strings.Contains(s.Broken, "incident 1") {
		t.Errorf("%+v", s)
	}
	// Texts of the host can't leave their place in the page: JSON escapes what begins an element.
	if b, err := json.Marshal(s); err != nil || strings.Contains(string(b), "<b>") {
		t.Errorf("%s %v", b, err)
	}
}

func TestToken(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "new", "token")
	first, err := Token(name)
	if err != nil || len(first) < LeastToken {
		t.Fatal(first, err)
	}
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
		t.Error(st.Mode(), err)
	}
	if again, err := Token(name); err != nil || again != first {
		t.Error(again, err)
	}
	for text, want := range map[string]string{"short\n": "16 or more", "": "16 or more", "two words of a token": "one word", "\x00\x01345678901234567": "one word"} {
		bad := filepath.Join(dir, "bad")
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Token(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	open := filepath.Join(dir, "open")
	if err := os.WriteFile(open, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Token(open); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
	if _, err := Token(dir); err == nil || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
