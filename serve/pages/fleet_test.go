package pages

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/fleet/hosts"
	"snag/fleet/prom"
	"snag/internal/web"
	"snag/recorder"
)

// servedFleet is a site with the page of many hosts.
func servedFleet(t *testing.T, ring recorder.Ring, f *Fleet) (at string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	a := web.Of(server.Listener)
	server.Config.Handler = Handler(Options{At: a, Host: "web1", Ring: ring, Access: NewAccess(token, a, false), MCP: http.NotFoundHandler(), Fleet: f})
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func TestTheFleetsPage(t *testing.T) {
	s := &aStore{}
	nowhere := recorder.Ring{Dir: filepath.Join(t.TempDir(), "none")}
	f := s.asked(t).Fleet
	at := servedFleet(t, nowhere, &f)
	for _, path := range []string{"/fleet", "/fleet.json"} {
		if answer, body := ask(t, "GET", at+path, ""); answer.StatusCode != http.StatusUnauthorized || strings.Contains(body, "origin-3") {
			t.Errorf("%s without the token: %s", path, answer.Status)
		}
		if answer, _ := ask(t, "POST", at+path, "", bearer); answer.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
	if len(s.reads) != 0 {
		t.Error("the store was asked for nobody")
	}
	if answer, _ := ask(t, "GET", at+"/", "", bearer); answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/fleet" {
		t.Errorf("without a ring: %s %s", answer.Status, answer.Header.Get("Location"))
	}
	answer, body := ask(t, "GET", at+"/fleet", "", bearer)
	if answer.StatusCode != 200 || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(body, "<title>snag: many hosts</title>") {
		t.Errorf("%s %.200s", answer.Status, body)
	}
	answer, body = ask(t, "GET", at+"/fleet.json", "", bearer)
	var d struct {
		Version        int
		Standing, Host string
		Causes         []struct{ Host, Suspect string }
		Links          map[string]string
		Timeline       struct{ Rows []struct{ Host string } }
	}
	if err := json.Unmarshal([]byte(body), &d); err != nil || answer.StatusCode != 200 {
		t.Fatalf("%s %s %v", answer.Status, body, err)
	}
	if d.Version != 1 || d.Standing != "culprit" || d.Host != "" || len(d.Causes) != 1 || d.Causes[0].Suspect != "runtime-pause" || len(d.Timeline.Rows) != 1 || d.Links["origin-3"] == "" {
		t.Errorf("%+v", d)
	}
	if strings.Contains(body, "<b>") {
		t.Error("texts of a host can leave their place in the page")
	}
	// With a ring each page leads to the other.
	at = servedFleet(t, aRing(t, true), &f)
	if answer, body := ask(t, "GET", at+"/state.json", "", bearer); answer.StatusCode != 200 || !strings.Contains(body, `"fleet":true`) {
		t.Errorf("%s %s", answer.Status, body)
	}
	if _, body := ask(t, "GET", at+"/fleet.json", "", bearer); !strings.Contains(body, `"host":"web1"`) {
		t.Errorf("%.200s", body)
	}
	if answer, _ := ask(t, "GET", at+"/", "", bearer); answer.StatusCode != 200 {
		t.Error(answer.Status)
	}
	// Without --fleet there is no such page.
	at = servedFleet(t, nowhere, nil)
	if answer, _ := ask(t, "GET", at+"/fleet", "", bearer); answer.StatusCode != http.StatusNotFound {
		t.Error(answer.Status)
	}
}

// Headers for the store are secrets: no page and no error has them. The form leads back to the page that was asked for,
// and never elsewhere.
func TestSecretsAndTheForm(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such tenant: "+r.Header.Get("X-Scope-Orgid"), http.StatusForbidden)
	}))
	defer refusing.Close()
	client, err := prom.New(refusing.URL, http.Header{"X-Scope-Orgid": {"s3cret-tenant"}})
	if err != nil {
		t.Fatal(err)
	}
	f := Fleet{Store: refusing.URL, Of: client, Read: readOf(client)}
	at := servedFleet(t, recorder.Ring{Dir: "/none"}, &f)
	for _, path := range []string{"/fleet", "/fleet.json"} {
		if _, body := ask(t, "GET", at+path, "", bearer); strings.Contains(body, "s3cret") || path == "/fleet.json" && !strings.Contains(body, "403 Forbidden") {
			t.Errorf("%s: %.300s", path, body)
		}
	}
	for path, want := range map[string]string{"/fleet": "/fleet", "/": "/", "/incident/7": "/"} {
		if _, body := ask(t, "GET", at+path, "", "Accept: text/html"); !strings.Contains(body, `name="back" value="`+want+`"`) {
			t.Errorf("%s: %s", path, body[max(0, len(body)-600):])
		}
	}
	form := "Content-Type: application/x-www-form-urlencoded"
	for back, want := range map[string]string{"/fleet": "/fleet", "//evil.example/fleet": "/", "https://evil.example": "/", "": "/"} {
		if answer, _ := ask(t, "POST", at+"/login", "token="+token+"&back="+back, form); answer.Header.Get("Location") != want {
			t.Errorf("back to %q: %q", back, answer.Header.Get("Location"))
		}
	}
}

func readOf(q hosts.Querier) func(context.Context, time.Time) (*hosts.Fleet, error) {
	return func(ctx context.Context, at time.Time) (*hosts.Fleet, error) { return hosts.Read(ctx, q, "", at) }
}
