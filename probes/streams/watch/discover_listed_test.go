package watch

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

// hosts is a lister that says what it is given.
type hosts struct {
	now   Listed
	later chan Listed
}

func (h *hosts) Name() string                { return "file:x.json" }
func (h *hosts) List(context.Context) Listed { return h.now }
func (h *hosts) Follow(ctx context.Context, on func(Listed)) {
	for {
		select {
		case l := <-h.later:
			on(l)
		case <-ctx.Done():
			return
		}
	}
}

func TestListedHosts(t *testing.T) {
	h := &hosts{now: Listed{Problems: []string{"torn"}, Found: []map[string]string{
		{"address": "10.0.0.1", "host": "10.0.0.1", "port": "1935", "meta.kubernetes_pod_name": "cam/1?x", "label.site": "north"}, {"address": "10.0.0.2"},
	}}}
	d, err := NewDiscovery(h, []string{"url=rtmp://{address}:{port}/live/{meta.kubernetes_pod_name}"})
	if err != nil {
		t.Fatal(err)
	}
	entries, problems, err := d.Ask(t.Context())
	if err != nil || !slices.Equal(urls(entries), []string{"rtmp://10.0.0.1:1935/live/cam/1%3Fx"}) || entries[0].Labels["site"] != "north" || entries[0].From != "file:x.json" {
		t.Errorf("%v %v", entries, err)
	}
	if len(problems) != 2 || !strings.Contains(problems[0].Why, `"10.0.0.2" can't be watched: it has no {`) || problems[1].Why != "torn" {
		t.Errorf("%v", problems)
	}
	for _, words := range [][]string{nil, {"uri=x"}, {"url=rtmp://{address}/{nothing}"}} {
		if _, err := NewDiscovery(h, words); err == nil {
			t.Errorf("%q is taken", words)
		}
	}
}

func TestListedHostsAreFollowed(t *testing.T) {
	notes, set := make(chan string, 10), make(chan string, 10)
	open := func(u *url.URL) (stream.Open, error) {
		set <- u.String()
		return func(ctx context.Context, _ *url.URL, _ stream.Sink, _ stream.Options) error { <-ctx.Done(); return nil }, nil
	}
	w := New(Options{Open: open, Note: func(s string) { notes <- s }, Most: 10})
	h := &hosts{later: make(chan Listed)}
	d, err := NewDiscovery(h, []string{"url=rtmp://{address}/live"})
	if err != nil {
		t.Fatal(err)
	}
	go w.FollowDiscovery(t.Context(), d)
	h.later <- Listed{Found: []map[string]string{{"address": "10.0.0.1"}}}
	select {
	case got := <-set:
		if got != "rtmp://10.0.0.1/live" {
			t.Error(got)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("a host that was listed is not watched")
	}
	h.later <- Listed{Err: errors.New("file:x.json: gone")}
	select {
	case got := <-notes:
		if got != "discover file:x.json: gone; what it said before is watched on" {
			t.Error(got)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("an error is not noted")
	}
}
