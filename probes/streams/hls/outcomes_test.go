package hls

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/recording"
)

func TestOutcomes(t *testing.T) {
	gone, slow := &status{404, "404 Not Found"}, errors.New("no bytes in 6s")
	var o outcomes
	for i, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{gone, "the segments answer 404 Not Found (1 of the last 2)"},
		{gone, "the segments answer 404 Not Found (2 of the last 3)"},
		{nil, ""},
		{slow, "the segments can't be loaded: no bytes in 6s (3 of the last 5)"},
		{fmt.Errorf("its key: %w", gone), "the segments can't be loaded: its key: 404 Not Found (4 of the last 6)"},
	} {
		if got := o.add(c.err); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
	for range 20 {
		o.add(gone)
	}
	if got := o.add(gone); got != "the segments answer 404 Not Found (10 of the last 10)" {
		t.Errorf("after many: %q", got)
	}
}

// A playlist goes on and its segments are gone: the freeze says what they answer. So it
// does of a master playlist's variant.
func TestAFreezeSaysWhatTheSegmentsAnswer(t *testing.T) {
	t.Parallel()
	media := fixture(t, "ts", "testdata", "h264-aac.ts")
	for _, name := range []string{"/media.m3u8", "/master.m3u8"} {
		t.Run(name[1:], func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			began := time.Now()
			mux := http.NewServeMux()
			mux.HandleFunc("/master.m3u8", func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"s\",URI=\"sound.m3u8\"\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"s\"\nmedia.m3u8\n")
			})
			mux.HandleFunc("/sound.m3u8", func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n0.ts\n")
			})
			mux.HandleFunc("/media.m3u8", func(w http.ResponseWriter, _ *http.Request) {
				mu.Lock()
				n := int(time.Since(began) / (700 * time.Millisecond))
				mu.Unlock()
				fmt.Fprintf(w, "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:%d\n#EXTINF:1,\n%d.ts\n", n, n)
			})
			mux.HandleFunc("/0.ts", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(media) })
			u, err := url.Parse(serve(t, mux) + name)
			if err != nil {
				t.Fatal(err)
			}
			meter := figures.New(figures.Options{Asked: monotonic(), Bursty: true, Threshold: time.Second})
			ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- Open(ctx, u, meter, stream.Options{Now: monotonic, Timeout: 2 * time.Second}) }()
			for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
				meter.Tick(monotonic())
				for _, e := range meter.Events(nil) {
					if e.Kind != recording.EventStreamFreeze {
						continue
					}
					if !strings.HasPrefix(e.Why, "the segments answer 404 Not Found (") || e.Phase != figures.Begun {
						t.Errorf("told %+v", e)
					}
					cancel()
					<-done
					return
				}
			}
			t.Errorf("no freeze; the reader: %v", <-done)
		})
	}
}
