package watch

import (
	"context"
	"fmt"
	"net/url"
	"runtime"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/streams/stream"
)

// silent lets in and gives nothing: what is left is the watch's own memory.
func silent(ctx context.Context, _ *url.URL, sink stream.Sink, o stream.Options) error {
	sink.Published(o.Now(), "", "")
	<-ctx.Done()
	return ctx.Err()
}

// A stream costs at most 0.1 MiB, its reader's buffers aside.
func TestMemoryOfAStream(t *testing.T) {
	const n = 500
	raw := make([]string, n)
	for i := range raw {
		raw[i] = fmt.Sprintf("rtmp://a/cam%d", i)
	}
	list := entries(t, raw...)
	inUse := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.StackInuse)
	}
	before := inUse()
	w := New(Options{Open: func(*url.URL) (stream.Open, error) { return silent, nil }, Anchor: probe.NewAnchor(), PerSecond: 1000})
	w.Set("list", list)
	stop := running(w)
	defer stop()
	await(t, "all are read", func() bool { s := w.Snapshot(); return s.States[Waiting] == n })
	if each := (inUse() - before) / n; each > 100<<10 {
		t.Errorf("%d bytes a stream", each)
	} else {
		t.Logf("%d bytes a stream", each)
	}
}

// BenchmarkTick is what 500 streams cost besides their frames: five of these a second.
func BenchmarkTick(b *testing.B) {
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor(), PerSecond: 1000})
	raw := make([]string, 500)
	for i := range raw {
		raw[i] = fmt.Sprintf("rtmp://a/cam%d", i)
	}
	w.Set("list", entries(b, raw...))
	b.ReportAllocs()
	for b.Loop() {
		w.tick(time.Millisecond)
	}
}
