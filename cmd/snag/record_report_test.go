package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/recorder"
)

// hook takes what is posted.
type hook struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []string
	headers []http.Header
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.bodies, h.headers = append(h.bodies, string(b)), append(h.headers, r.Header)
	}))
	t.Cleanup(h.Close)
	return h
}

// reporterOf is a reporter as its flags make it, with its journal.
func reporterOf(t *testing.T, f recordFlags) (*reporter, *strings.Builder) {
	t.Helper()
	r, err := f.reporter()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	journal := &strings.Builder{}
	r.note = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(journal, text)
	}
	return r, journal
}

var hurtOnce = recorder.Incident{
	ID: 7, Start: time.Date(2026, 11, 28, 14, 17, 28, 0, time.UTC), Noticed: "nginx: answers take long",
	Finding: recorder.Finding{Standing: "culprit", Hurt: true, Culprits: []recorder.Named{{Name: "listen-overflow", Subject: "nginx", Text: "its queue is full"}}},
}

// An incident is reported to the journal, to a command and to a webhook, whose calls are signed.
func TestWhoGetsAReport(t *testing.T) {
	t.Parallel()
	dir, h := t.TempDir(), newHook(t)
	secret, program, out := filepath.Join(dir, "secret"), filepath.Join(dir, "program"), filepath.Join(dir, "out")
	key := strings.Repeat("s", 32)
	script := "#!/bin/sh\n{ echo \"$SNAG_EVENT $SNAG_INCIDENT $SNAG_CULPRIT $SNAG_RECORDING $1\"; cat; } > \"" + out + ".$SNAG_EVENT\"\n"
	for name, text := range map[string]string{secret: key + "\n", program: script} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r, journal := reporterOf(t, recordFlags{ring: "/ring", command: program + " more", webhook: h.URL, secret: secret})
	r.report(t.Context(), hurtOnce, recorder.Begins)
	r.end()
	over := hurtOnce
	over.End = over.Start.Add(90 * time.Second)
	r.report(t.Context(), over, recorder.Ends)
	r.end()
	for i, event := range []string{"incident-begins", "incident-ends"} {
		b, err := os.ReadFile(out + "." + event)
		head, body, _ := strings.Cut(string(b), "\n")
		if want := event + " 7 listen-overflow /ring/incidents/000007/recording.snag more"; err != nil || head != want {
			t.Errorf("the program has %q %v, want %q", head, err, want)
		}
		if i >= len(h.bodies) || h.bodies[i] != body {
			t.Fatalf("posted: %q\nto the program: %s", h.bodies, body)
		}
		var call incidentCall
		if err := json.Unmarshal([]byte(body), &call); err != nil || call.Event != event || call.ID != 7 || call.Culprits[0].Subject != "nginx" || call.End.IsZero() != (i == 0) {
			t.Errorf("%s: %v", body, err)
		}
		id, stamp := h.headers[i].Get("webhook-id"), h.headers[i].Get("webhook-timestamp")
		m := hmac.New(sha256.New, []byte(key))
		fmt.Fprintf(m, "%s.%s.%s", id, stamp, body)
		if want := "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil)); h.headers[i].Get("webhook-signature") != want || id == "" {
			t.Errorf("its signature is %q, want %q", h.headers[i].Get("webhook-signature"), want)
		}
	}
	if h.headers[0].Get("webhook-id") == h.headers[1].Get("webhook-id") {
		t.Error("the begin and the end have one id: the receiver would take the end for a repetition")
	}
	if want := "incident 7 begins: nginx: answers take long; listen-overflow: its queue is full (snag incidents show 7)\nincident 7 ends after 1m30s; listen-overflow: its queue is full (snag incidents show 7)\n"; journal.String() != want {
		t.Errorf("journal: %s\nwant %s", journal, want)
	}
}

// What fails is in the journal with its reason, and nothing else fails for it.
func TestAReportThatFails(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(http.NotFoundHandler())
	defer away.Close()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho no mail today >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, journal := reporterOf(t, recordFlags{ring: "/ring", command: program, webhook: away.URL})
	r.report(t.Context(), hurtOnce, recorder.Begins)
	r.end()
	for _, want := range []string{"incident 7 begins", program + ": exit status 3: no mail today", "post to " + away.URL + ": "} {
		if !strings.Contains(journal.String(), want) {
			t.Errorf("no %q in %s", want, journal)
		}
	}
}

// A fault that comes and goes: some are reported, then the journal has one line for all others.
func TestManyIncidentsAreReportedInPart(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	r, journal := reporterOf(t, recordFlags{ring: "/ring", webhook: h.URL})
	at := hurtOnce.Start
	r.now = func() time.Time { return at }
	for id := 1; id <= 3*recorder.MostReports; id++ {
		i := hurtOnce
		i.ID = id
		r.report(t.Context(), i, recorder.Begins)
		i.End = i.Start.Add(time.Minute)
		r.report(t.Context(), i, recorder.Ends)
	}
	r.end()
	if len(h.bodies) != 2*recorder.MostReports || strings.Count(journal.String(), "\n") != 2*recorder.MostReports+1 || !strings.Contains(journal.String(), "incident 13 begins, and 12 were reported within the last hour: until that is over, incidents are kept and not reported (snag incidents)") {
		t.Errorf("%d posted\n%s", len(h.bodies), journal)
	}
	at = at.Add(time.Hour)
	i := hurtOnce
	i.ID = 100
	r.report(t.Context(), i, recorder.Begins)
	r.end()
	if last := h.bodies[len(h.bodies)-1]; len(h.bodies) != 2*recorder.MostReports+1 || !strings.Contains(last, `"id":100,`) || !strings.Contains(last, `"not_reported":24}`) {
		t.Errorf("%d posted, the last %s", len(h.bodies), last)
	}
	if !strings.Contains(journal.String(), "\nand 24 more incidents before incident 100, not reported (snag incidents)\nincident 100 begins") {
		t.Error(journal)
	}
}
