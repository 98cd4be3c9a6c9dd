package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snag/probes/probe"
	"snag/recording"
)

// covered is what a probe says of itself.
type covered struct {
	coverage map[string]recording.Coverage
}

func (*covered) Sample(recording.Time, string, recording.Labels, float64) {}

func (r *covered) Append(row recording.Row) {
	if c, ok := row.(recording.Coverage); ok {
		r.coverage[c.Probe] = c
	}
}

// ran starts and ends the probe that --discover asked for.
func ran(t *testing.T, p *probe.Probe) map[string]recording.Coverage {
	t.Helper()
	sink := &covered{coverage: map[string]recording.Coverage{}}
	r, err := p.Start(context.Background(), &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), Sink: sink, Notice: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	r.Stop()
	return sink.coverage
}

// All that a server lists is read, up to the limit, and what is left out is said where
// it is and in the recording.
func TestFindReadsWhatServersList(t *testing.T) {
	names := []string{"a", "b", "c"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer eyJ.x" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		var items []string
		for _, n := range names {
			items = append(items, fmt.Sprintf(`{"name":%q,"ready":true}`, n))
		}
		fmt.Fprintf(w, `{"itemCount":%d,"pageCount":1,"items":[%s]}`, len(items), strings.Join(items, ","))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "servers")
	if err := os.WriteFile(file, []byte("127.0.0.1 token=eyJ.x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := listedFlags{servers: []string{"mediamtx:" + server.URL + " url=rtmp://127.0.0.1:1/{stream}"}, credentials: file, most: 2}
	for _, c := range []struct {
		most         int
		layers       string
		notes        string
		streams, why string
	}{
		{2, "", "3 streams are listed and the first 2 are read, which is the limit: --max-streams 3 reads all", "no frame of 2 of 2 streams", "of the streams that the servers list 1 were not read"},
		{3, "", "", "no frame of 3 of 3 streams", ""},
		{2, "in=rtmp://127.0.0.1:1/{stream},out=rtmp://127.0.0.1:2/{stream}", "the first 2 are read", "no frame of 4 of 4 streams", "1 were not read"},
	} {
		var notes strings.Builder
		f.most = c.most
		p, err := f.ask(context.Background(), c.layers, "", &notes)
		if err != nil || !strings.Contains(notes.String(), c.notes) || c.notes == "" && notes.Len() > 0 {
			t.Fatalf("%d: %q, %v", c.most, notes.String(), err)
		}
		got := ran(t, p)["streams.figures"]
		if !strings.Contains(got.Why, c.streams) || !strings.Contains(got.Why, c.why) || strings.Contains(got.Why, "were not read") != (c.why != "") {
			t.Errorf("%d: %+v", c.most, got)
		}
	}
	names = nil
	p, err := f.ask(context.Background(), "", "", &strings.Builder{})
	if err != nil {
		t.Fatal(err)
	}
	if c := ran(t, p)["streams"]; c.State != recording.CoverageOff || !strings.Contains(c.Why, "list no stream that is published") {
		t.Errorf("nobody publishes: %+v", c)
	}
	if err := os.WriteFile(file, []byte("127.0.0.1 token=eyJ.other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ask(context.Background(), "", "", &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), "eyJ") {
		t.Errorf("%v", err)
	}
	if p, err := (&listedFlags{}).ask(context.Background(), "", "", nil); p != nil || err != nil {
		t.Errorf("no server: %v, %v", p, err)
	}
}
