package watch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"snag/probes/probe"
)

func at(entries []Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%s @%s %s %s %s", e.Name, e.Layer, e.URL, e.Threshold, e.Labels))
	}
	return out
}

func TestLayersOfAList(t *testing.T) {
	l, err := ParseLayerTemplates("ingest=rtmp://{host}:{port}/{app}/{stream},edge=rtmp://edge-{label.site}/{app}/{stream}")
	if err != nil {
		t.Fatal(err)
	}
	list, problems := ParseList("cams.txt", []byte("rtmp://a:1936/live/hall/cam1 name=door threshold=2s label.site=north\nrtmp://a:1936/live/cam2\n"), true)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	got, problems := l.Of(list)
	want := []string{
		"door @ingest rtmp://a:1936/live/hall/cam1 2s site=north",
		"door @edge rtmp://edge-north/live/hall/cam1 2s site=north",
	}
	if !slices.Equal(at(got), want) || got[0].places != got[1].places || streamsOf(got) != 1 {
		t.Errorf("%q", at(got))
	}
	if len(problems) != 1 || !strings.Contains(problems[0].Error(), "it has no {label.site}") || problems[0].File != "cams.txt:2" {
		t.Errorf("%v", problems)
	}
	if got, problems := Layers(nil).Of(list); len(got) != 2 || len(problems) > 0 {
		t.Errorf("without layers: %q, %v", at(got), problems)
	}
}

func TestLayersOfAServersList(t *testing.T) {
	body := answer(t, "srs.json")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) }))
	defer server.Close()
	d, err := ParseDiscovery("srs:" + server.URL)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ParseLayerTemplates("ingest=rtmp://{host}/{app}/{stream},edge=http://edge1/{app}/{stream}.m3u8?a=1,2")
	if err != nil {
		t.Fatal(err)
	}
	d.Layers(l)
	got, problems, err := d.Ask(context.Background())
	want := []string{
		"__defaultApp__/stream @ingest rtmp://127.0.0.1/__defaultApp__/stream 0s app=__defaultApp__",
		"__defaultApp__/stream @edge http://edge1/__defaultApp__/stream.m3u8?a=1,2 0s app=__defaultApp__",
		"live/stage @ingest rtmp://127.0.0.1/live/stage?vhost=stage.example.com 0s app=live vhost=stage.example.com",
		"live/stage @edge http://edge1/live/stage.m3u8?a=1,2&vhost=stage.example.com 0s app=live vhost=stage.example.com",
	}
	if err != nil || len(problems) > 0 || !slices.Equal(at(got), want) {
		t.Errorf("%s\n%v, %v", strings.Join(at(got), "\n"), problems, err)
	}
}

func TestParseLayerTemplates(t *testing.T) {
	for spec, says := range map[string]string{
		"ingest=rtmp://{host}/{stream}":                      "two layers at least",
		"a=rtmp://{host}/{stream},b=rtmp://edge/x":           "all streams would have one URL",
		"a=rtmp://{host}/{stream},b=rtmp://edge/{strem}":     "b=rtmp://edge/{strem}: there is no {strem}",
		"a=rtmp://{host}/{stream},b={host}/{stream}":         "b={host}/{stream} is not a URL template",
		"a=rtmp://{host}/{stream},a=rtmp://b/{stream}":       "given twice",
		"a=rtmp://{host}/{stream},b=rtmp://u:hunter2@e/{st}": "there is no {st}",
	} {
		if _, err := ParseLayerTemplates(spec); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

// Each stream of a list is matched through its own layers, has one name at all of them,
// and is forgotten with the last of them.
func TestManyLayeredStreams(t *testing.T) {
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor(), PerSecond: 1000})
	l, err := ParseLayerTemplates("origin=rtmp://{host}/{app}/{stream},edge=rtmp://edge/{host}/{app}/{stream}")
	if err != nil {
		t.Fatal(err)
	}
	list := func(raw ...string) []Entry {
		t.Helper()
		of, problems := l.Of(entries(t, raw...))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return of
	}
	w.Set("cams.txt", list("rtmp://a/live/x", "rtmp://b/live/x", "rtmp://a/live/y"))
	stop := running(w)
	defer stop()
	var names []string
	for _, r := range w.Snapshot().Rows {
		names = append(names, r.Name+" @"+r.Layer)
	}
	slices.Sort(names)
	want := []string{"b/live/x @edge", "b/live/x @origin", "live/x @edge", "live/x @origin", "live/y @edge", "live/y @origin"}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	await(t, "all are read", func() bool { return f.open.Load() == 6 })
	await(t, "each is looked at by itself", func() bool { return len(w.Matched()) == 3 })
	for hop := range w.Matched() {
		if !strings.HasSuffix(hop, "live/x: origin to edge") && hop != "live/y: origin to edge" {
			t.Errorf("%q", hop)
		}
	}
	opened := f.opened.Load()
	w.Set("cams.txt", list("rtmp://a/live/y"))
	await(t, "the others are forgotten", func() bool { return f.open.Load() == 2 })
	if m := w.Matched(); len(m) != 1 || len(w.layered) != 1 || f.opened.Load() != opened {
		t.Errorf("%v, %d layered, %d connections", m, len(w.layered), f.opened.Load()-opened)
	}
	if _, ok := w.Matched()["origin to edge"]; !ok {
		t.Errorf("%v", w.Matched())
	}
	w.Set("cams.txt", nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.layered)+len(w.names)+len(w.streams) != 0 {
		t.Errorf("%d layered, %d names and %d streams are kept", len(w.layered), len(w.names), len(w.streams))
	}
}

// A name that another stream has at any layer is taken at all: frames are matched, and
// judged, by a stream's name.
func TestALayeredStreamHasOneName(t *testing.T) {
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor()})
	one, err := ParseLayers("edge=rtmp://e/live/x,cdn=rtmp://c/live/x", "--layers")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ParseLayerTemplates("origin=rtmp://{host}/{app}/{stream},edge=rtmp://edge/{app}/{stream}")
	if err != nil {
		t.Fatal(err)
	}
	other, problems := l.Of(entries(t, "rtmp://o/live/x"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	w.Set("--layers", one)
	w.Set("cams.txt", other)
	var names []string
	for _, r := range w.Snapshot().Rows {
		names = append(names, r.Name+" @"+r.Layer)
	}
	slices.Sort(names)
	if want := []string{"live/x @cdn", "live/x @edge", "o/live/x @edge", "o/live/x @origin"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}
