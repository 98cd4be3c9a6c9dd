package hls

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
)

func progressive(ctx context.Context, t *testing.T, address string, k *kept) error {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return Progressive(ctx, u, k, stream.Options{Now: monotonic, Timeout: 500 * time.Millisecond, Every: 10 * time.Millisecond})
}

func TestProgressive(t *testing.T) {
	b := fixture(t, "ts", "testdata", "h264-aac.ts")
	mux := http.NewServeMux()
	mux.HandleFunc("/whole.ts", func(w http.ResponseWriter, _ *http.Request) {
		for rest := b; len(rest) > 0; rest = rest[min(5000, len(rest)):] {
			_, _ = w.Write(rest[:min(5000, len(rest))])
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	})
	mux.HandleFunc("/stops.ts", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(b[:len(b)/2])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/hangs.ts", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/page.ts", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>please log in</html>")) })
	at := serve(t, mux)

	var k kept
	err := progressive(context.Background(), t, at+"/whole.ts", &k)
	var ended *stream.Ended
	if !errors.As(err, &ended) || k.let != 1 {
		t.Errorf("%v, published %d times", err, k.let)
	}
	k.wantPictures(t, 25, 3)

	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	k = kept{}
	if err := progressive(ctx, t, at+"/stops.ts", &k); err != nil {
		t.Errorf("silence is not an error: %v", err)
	}
	if n, _, _ := k.of(stream.Video); n == 0 {
		t.Error("no picture before the silence")
	}
	for path, want := range map[string]string{"/hangs.ts": "no answer in 500ms", "/page.ts": "neither MPEG-TS", "/none.ts": "refused: 404"} {
		if err := progressive(context.Background(), t, at+path, &kept{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
