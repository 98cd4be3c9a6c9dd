package watch

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/streams/stream"
)

// listed is a MediaMTX whose list is what says gives.
type listed struct {
	mu   sync.Mutex
	says string
}

func (l *listed) say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.says = text
}

func (l *listed) publish(names ...string) {
	var items []string
	for _, n := range names {
		items = append(items, fmt.Sprintf(`{"name":%q,"ready":true}`, n))
	}
	l.say(fmt.Sprintf(`{"itemCount":%d,"pageCount":1,"items":[%s]}`, len(items), strings.Join(items, ",")))
}

func (l *listed) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.says == "500" {
		http.Error(w, "no", http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, l.says)
}

func followed(t *testing.T, l *listed, o Options) (*Watcher, *following) {
	t.Helper()
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	d, err := ParseDiscovery("mediamtx:" + server.URL + " url=rtmp://{host}/{stream}")
	if err != nil {
		t.Fatal(err)
	}
	o.Anchor = probe.NewAnchor()
	w := New(o)
	return w, w.following(d)
}

func watched(w *Watcher) string {
	var names []string
	for _, r := range w.Snapshot().Rows {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// Streams come and go as they do at the server: at once they come, after five minutes
// they go, and while it gives no list all stays.
func TestStreamsComeAndGoAsTheServerSays(t *testing.T) {
	var l listed
	var f fake
	var notes told
	w, follow := followed(t, &l, Options{Open: f.of, Note: notes.note})
	ctx, began := context.Background(), time.Now()
	for _, c := range []struct {
		at   time.Duration
		says func()
		want string
	}{
		{0, func() { l.publish("a") }, "a"},
		{10 * time.Second, func() { l.publish("a", "b") }, "a b"},
		{20 * time.Second, func() { l.publish("b") }, "a b"},
		{5*time.Minute + 19*time.Second, func() {}, "a b"},
		{5*time.Minute + 20*time.Second, func() {}, "b"},
		{6 * time.Minute, func() { l.publish("b", "a") }, "a b"},
		{7 * time.Minute, func() { l.say("500") }, "a b"},
		{20 * time.Minute, func() {}, "a b"},
		{21 * time.Minute, func() { l.say("") }, "a b"},
		{22 * time.Minute, func() { l.say("{}") }, "a b"},
		{23 * time.Minute, func() { l.say(`{"pageCount":0}`) }, "a b"},
		{24 * time.Minute, func() { l.say(`{"pageCount":1,"items":[{"name":"a","rea`) }, "a b"},
		{25 * time.Minute, func() { l.publish() }, "a b"}, // it may be true: they have their five minutes
		{30*time.Minute - time.Second, func() { l.publish("a") }, "a b"},
		{30 * time.Minute, func() {}, "a"},
	} {
		c.says()
		follow.ask(ctx, began.Add(c.at))
		if got := watched(w); got != c.want {
			t.Errorf("after %s: %q, want %q", c.at, got, c.want)
		}
	}
	notes.mu.Lock()
	defer notes.mu.Unlock()
	if len(notes.notes) != 5 || !strings.Contains(notes.notes[0], "500") || !strings.Contains(notes.notes[0], "watched on") {
		t.Errorf("%q", notes.notes)
	}
}

// A thousand streams are taken in one round, and a
// list of none takes none of them away at once. A stream that is published while they
// are watched is read with the next list.
func TestAThousandStreamsAreTakenAtOnce(t *testing.T) {
	var l listed
	var opened atomic.Int64
	quiet := func(ctx context.Context, _ *url.URL, sink stream.Sink, o stream.Options) error {
		opened.Add(1)
		sink.Published(o.Now(), "", "")
		<-ctx.Done()
		return ctx.Err()
	}
	w, follow := followed(t, &l, Options{Open: func(*url.URL) (stream.Open, error) { return quiet, nil }, PerSecond: 1000})
	var names []string
	for i := range 1000 {
		names = append(names, fmt.Sprintf("s%04d", i))
	}
	l.publish(names...)
	began := time.Now()
	follow.ask(context.Background(), began)
	if n := len(w.Snapshot().Rows); n != 1000 {
		t.Fatalf("%d streams", n)
	}
	stop := running(w)
	defer stop()
	await(t, "all are read", func() bool { return opened.Load() == 1000 })
	l.publish(append(names, "late")...)
	follow.ask(context.Background(), began.Add(discoverEvery))
	await(t, "the one that was published since is read", func() bool { return row(w, "late").State == Waiting })
	if n := opened.Load(); n != 1001 {
		t.Errorf("%d connections for one new stream", n-1000)
	}
	l.publish()
	follow.ask(context.Background(), began.Add(2*discoverEvery))
	if n := len(w.Snapshot().Rows); n != 1001 {
		t.Errorf("an empty list left %d of 1001 streams", n)
	}
}

// No more are kept than may be watched, however often a server's list changes.
func TestGoneIsBounded(t *testing.T) {
	g := gone{most: 10}
	now := time.Now()
	for i := range 50 {
		out := g.keep(entries(t, fmt.Sprintf("rtmp://a/%d", i)), now.Add(time.Duration(i)*time.Second))
		if len(out) > 11 || len(g.since) > 10 || out[0].Name != fmt.Sprint(i) {
			t.Fatalf("%d kept, %d remembered", len(out), len(g.since))
		}
	}
}
