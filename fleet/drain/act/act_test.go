package act

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/fleet/drain/plan"
	"snag/fleet/prom"
)

func seconds(d time.Duration) plan.Duration { return plan.Duration{D: d, Set: true} }

func TestACommandThatStaysDoesNotHoldItUp(t *testing.T) {
	begun := time.Now()
	// As a daemon does: the child keeps the output open.
	if err := Run(t.Context(), []string{"sh", "-c", "sleep 3 & echo started"}); err != nil || time.Since(begun) > 2*time.Second {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
}

func TestACommandThatTakesTooLongIsKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "late")
	err := Do(t.Context(), plan.Action{Run: []string{"sh", "-c", "echo waiting for the disk; sleep 2; touch " + file}, Timeout: seconds(300 * time.Millisecond)}, plan.Restart)
	if !errors.Is(err, ErrLate) || !strings.Contains(err.Error(), "waiting for the disk") {
		t.Error(err)
	}
	time.Sleep(2500 * time.Millisecond)
	if _, err := os.Stat(file); err == nil {
		t.Error("what it had started went on")
	}
}

// Consul's agent gets what its documentation says.
func TestMaintenance(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery+" "+r.Header.Get("X-Consul-Token"))
	}))
	defer s.Close()
	headers := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(headers, []byte("X-Consul-Token: secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := plan.Action{Consul: &plan.Consul{URL: s.URL, Service: "web-1", Reason: "new kernel", Headers: headers}}
	for _, phase := range []plan.Phase{plan.Drain, plan.Return} {
		if err := Do(t.Context(), a, phase); err != nil {
			t.Fatal(err)
		}
	}
	want := "PUT /v1/agent/service/maintenance/web-1?enable=true&reason=new+kernel secret, PUT /v1/agent/service/maintenance/web-1?enable=false secret"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	if text := Text(a, plan.Drain); !strings.Contains(text, "PUT http://") || strings.Contains(text, "secret") {
		t.Error(text)
	}
}

func TestRequests(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
	}))
	defer s.Close()
	if err := Request(t.Context(), plan.Request{URL: s.URL}); err != nil {
		t.Error(err)
	}
	var u *Unexpected
	if err := Request(t.Context(), plan.Request{URL: s.URL + "/moved"}); !errors.As(err, &u) {
		t.Errorf("a redirect is an answer: %v", err)
	}
	s.Close()
	if err := Request(t.Context(), plan.Request{URL: s.URL + "/?key=secret"}); err == nil || errors.As(err, &u) || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestCommandsAreShownAsTheyWouldBeTyped(t *testing.T) {
	if got := Command([]string{"echo", "a b", "it's", "", "x=1", "\x1b[31m"}); !strings.HasPrefix(got, `echo 'a b' 'it'\''s' '' x=1 '`) || strings.Contains(got, "\x1b") {
		t.Error(got)
	}
}

const page = `# HELP nginx_connections_active Active
# TYPE nginx_connections_active gauge
nginx_connections_active{server="a"} 3
nginx_connections_active{server="b",x="1"} 4 1700000000000
nginx_connections_active_total 99
plain 7
bad NaN
`

func TestSum(t *testing.T) {
	for _, c := range []struct {
		name   string
		labels map[string]string
		want   float64
		found  bool
	}{
		{"nginx_connections_active", nil, 7, true},
		{"nginx_connections_active", map[string]string{"server": "b"}, 4, true},
		{"nginx_connections_active", map[string]string{"server": "c"}, 0, false},
		{"plain", nil, 7, true},
		{"none", nil, 0, false},
	} {
		if got, found, err := Sum(strings.NewReader(page), c.name, c.labels); err != nil || got != c.want || found != c.found {
			t.Errorf("%+v: %g %v %v", c, got, found, err)
		}
	}
	if _, _, err := Sum(strings.NewReader(page), "bad", nil); err == nil {
		t.Error("NaN connections are counted")
	}
}

type store prom.Answer

func (s store) Query(context.Context, string, time.Time) (prom.Answer, error) {
	return prom.Answer(s), nil
}

// What was not measured is an error and never 0 connections.
func TestNotMeasuredIsNotZero(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(page))
	}))
	defer s.Close()
	metrics := func(path, name string) plan.Leave {
		return plan.Leave{Metrics: &plan.Series{URL: s.URL + path, Name: name}}
	}
	for name, c := range map[string]struct {
		counter Counter
		leave   plan.Leave
	}{
		"no series":             {Counter{Store: store{}}, plan.Leave{Query: "x"}},
		"a part of the store":   {Counter{Store: store{Samples: []prom.Sample{{Value: 0}}, Warnings: []string{"store-2"}}}, plan.Leave{Query: "x"}},
		"no series on a page":   {Counter{}, metrics("/", "none")},
		"a page that is gone":   {Counter{}, metrics("/gone", "plain")},
		"sockets can't be read": {Counter{Sockets: func(string) (int, error) { return 0, errors.New("no") }}, plan.Leave{Connections: "a:1"}},
	} {
		if n, err := c.counter.Count(t.Context(), c.leave); err == nil {
			t.Errorf("%s: %g", name, n)
		}
	}
	if n, err := (Counter{}).Count(t.Context(), metrics("/", "plain")); err != nil || n != 7 {
		t.Errorf("%g %v", n, err)
	}
	if n, err := (Counter{Store: store{Samples: []prom.Sample{{Value: 2}, {Value: 3}}}}).Count(t.Context(), plan.Leave{Query: "x"}); err != nil || n != 5 {
		t.Errorf("%g %v", n, err)
	}
}
