package hls

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/streams/stream"
)

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// kept is what a reader gave.
type kept struct {
	mu     sync.Mutex
	frames []stream.Frame
	params []stream.Params
	counts [stream.Counts]uint64
	gauges [stream.Gauges][]float64
	let    int
	remote string
	notes  []string
}

func (k *kept) Published(_ int64, _, remote string) {
	k.do(func() { k.let, k.remote = k.let+1, remote })
}
func (k *kept) Frame(f stream.Frame)           { k.do(func() { k.frames = append(k.frames, f) }) }
func (k *kept) Params(p stream.Params)         { k.do(func() { k.params = append(k.params, p) }) }
func (k *kept) Count(c stream.Count, n uint64) { k.do(func() { k.counts[c] += n }) }
func (k *kept) Gauge(g stream.Gauge, v float64) {
	k.do(func() { k.gauges[g] = append(k.gauges[g], v) })
}

func (k *kept) Note(text string) { k.do(func() { k.notes = append(k.notes, text) }) }

func (k *kept) do(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
}

// of counts frames of a kind, and whether their DTS only went up.
func (k *kept) of(kind stream.Kind) (n, keys int, rising bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	rising = true
	var last stream.Frame
	for _, f := range k.frames {
		if f.Kind != kind {
			continue
		}
		if n > 0 && f.DTS <= last.DTS {
			rising = false
		}
		last = f
		if n++; f.Key {
			keys++
		}
	}
	return n, keys, rising
}

func (k *kept) count(c stream.Count) uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.counts[c]
}

func fixture(t testing.TB, parts ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{".."}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// files serves what a map has.
type files map[string][]byte

func (f files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, ok := f[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, readerOf(b))
}

// live serves what a map has, its playlists as a live stream's: at first up to their
// first segment, then whole.
type live map[string][]byte

func (l live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b, ok := l[r.URL.Path]; ok && strings.HasSuffix(r.URL.Path, ".m3u8") {
		first := regexp.MustCompile(`(?s).*?\n[^#][^\n]*\n`).Find(b)
		if _, begun := l[r.URL.Path+" was asked for"]; !begun {
			l[r.URL.Path+" was asked for"] = nil
			b = first
		}
		_, _ = w.Write(b)
		return
	}
	files(l).ServeHTTP(w, r)
}

func open(t *testing.T, ctx context.Context, address string, k *kept) error {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return Open(ctx, u, k, stream.Options{Now: monotonic, Timeout: 2 * time.Second})
}
