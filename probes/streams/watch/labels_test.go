package watch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"snag/probes/probe"
)

func TestLabelsOfALine(t *testing.T) {
	e, err := ParseArgument(`rtmp://a/live/x name=door label.site=north 'label.room=the hall' label.a-b.c_1=2`, "")
	if err != nil || e.Name != "door" || e.Labels.String() != "a-b.c_1=2 room=the hall site=north" {
		t.Errorf("%q, %v", e.Labels, err)
	}
	var many strings.Builder
	for i := range maxLabels + 1 {
		fmt.Fprintf(&many, " label.k%d=1", i)
	}
	for field, says := range map[string]string{
		"label.site=":                      "label.site= is empty",
		"label.=x":                         "is not a label key",
		"label.1st=x":                      "is not a label key",
		"label.s\u00efte=x":                "is not a label key",
		"label." + strings.Repeat("k", 65): "is not a field",
		"label." + strings.Repeat("k", 65) + "=x": "is not a label key",
		"label.\x1b[2J=x":                         "is not a label key",
		"labels.site=x":                           "there are name=, threshold= and label.KEY=",
		many.String():                             "more than 32 labels",
	} {
		if _, err := ParseArgument("rtmp://a/live/x "+field, ""); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %v", field, err)
		}
	}
	e, err = ParseArgument("rtmp://a/live/x label.site=\x1b[2Jx", "")
	if err != nil || strings.Contains(e.Labels["site"], "\x1b") {
		t.Errorf("%q, %v", e.Labels["site"], err)
	}
}

func TestLabelsOfAServersList(t *testing.T) {
	for spec, want := range map[string]string{
		"nginx.xml nginx:URL": "app=live | app=live | app=hall",
		"srs.json srs:URL":    "app=__defaultApp__ | app=live vhost=stage.example.com",
		"consul.json consul:URL/v1/health/service/rtmp url=rtmp://{address}:{port}/live/{meta.stream}": "meta.stream=cam1 node=edge1 service=rtmp tags=primary | meta.stream=cam2 node=edge2 service=rtmp",
		"mediamtx.json mediamtx:URL": " | ",
	} {
		file, spec, _ := strings.Cut(spec, " ")
		body := answer(t, file)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) }))
		d, err := ParseDiscovery(strings.Replace(spec, "URL", server.URL, 1))
		if err != nil {
			t.Fatal(err)
		}
		entries, _, err := d.Ask(context.Background())
		server.Close()
		var got []string
		for _, e := range entries {
			got = append(got, e.Labels.String())
		}
		if text := strings.Join(got, " | "); err != nil || text != want {
			t.Errorf("%s: %q, want %q, %v", spec, text, want, err)
		}
	}
	// A service whose keys are no keys of labels is watched all the same.
	d := &Discovery{kind: kind{label: []string{"service"}}}
	if got := d.labels(vars{"service": "rtmp", "meta.a b": "x", "meta.ok": "y", "id": "z"}); got.String() != "meta.ok=y service=rtmp" {
		t.Errorf("%q", got)
	}
}

// The labels of all who ask for a stream are its labels, and one that changes is no
// reason to connect again.
func TestLabelsOfSeveralAskers(t *testing.T) {
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor()})
	listed, err := ParseArgument("rtmp://a/x label.site=north label.app=mine", "cams.txt:1")
	if err != nil {
		t.Fatal(err)
	}
	found := entries(t, "rtmp://a/x", "rtmp://a/y")
	found[0].Labels, found[1].Labels = Labels{"app": "live", "vhost": "v"}, Labels{"app": "live"}
	w.Set("cams.txt", []Entry{listed})
	w.Set("nginx", found)
	stop := running(w)
	defer stop()
	await(t, "both are read", func() bool { return f.opened.Load() == 2 && row(w, "x").State == OK })
	for name, want := range map[string]string{"x": "app=mine site=north vhost=v", "y": "app=live"} {
		if got := row(w, name).Labels.String(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if listed.Labels.String() != "app=mine site=north" || found[0].Labels.String() != "app=live vhost=v" {
		t.Errorf("an asker's own labels were changed: %q, %q", listed.Labels, found[0].Labels)
	}
	moved := listed
	moved.Labels = Labels{"site": "south"}
	w.Set("cams.txt", []Entry{moved})
	if got := row(w, "x").Labels.String(); got != "app=live site=south vhost=v" {
		t.Errorf("changed to %q", got)
	}
	w.Set("cams.txt", nil)
	if got := row(w, "x").Labels.String(); got != "app=live vhost=v" || f.opened.Load() != 2 {
		t.Errorf("%q, %d connections", got, f.opened.Load())
	}
}
