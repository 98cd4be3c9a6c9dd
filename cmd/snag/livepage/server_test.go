package livepage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"snag/internal/web"
	"snag/probes/probe"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
	"snag/report/page/streams"
)

// gives is a reader of 25 frames per second; what is under /no is refused.
func gives(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	if strings.HasPrefix(u.Path, "/no") {
		return &stream.Refused{URL: watch.ShownURL(u), Why: "404 Not Found"}
	}
	sink.Published(o.Now(), "", "")
	sink.Params(stream.Params{Kind: stream.Video, Codec: "h264", Width: 320, Height: 180, FPS: 25})
	t := time.NewTicker(40 * time.Millisecond)
	defer t.Stop()
	for i := int64(0); ; i++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			dts := i * 40e6
			sink.Frame(stream.Frame{Kind: stream.Video, Key: i%50 == 0, Arrival: o.Now(), DTS: dts, PTS: dts, Size: 1000})
		}
	}
}

// serving is a watch of these streams with its page; it returns the page's address.
func serving(t *testing.T, urls ...string) string {
	t.Helper()
	w := watch.New(watch.Options{Open: func(*url.URL) (stream.Open, error) { return gives, nil }, Anchor: probe.NewAnchor(), PerSecond: 1000, Remember: true})
	var list []watch.Entry
	for _, raw := range urls {
		e, err := watch.NewEntry(raw, "the test")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	w.Set("test", list)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{l, web.Of(l)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	go func() { w.Run(ctx); done <- struct{}{} }()
	go func() { s.Serve(ctx, w, func(text string) { t.Error(text) }); done <- struct{}{} }()
	t.Cleanup(func() {
		cancel()
		<-done
		<-done
	})
	return "http://" + s.listener.Addr().String()
}

func ask(t *testing.T, method, address, host string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequest(method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, b
}

func TestThePageIsOnlyReadAndByWhoMay(t *testing.T) {
	at := serving(t)
	for _, c := range []struct {
		method, path, host string
		status             int
	}{
		{"GET", "/", "", 200}, {"HEAD", "/", "", 200}, {"GET", "/", "localhost:1", 200}, {"GET", "/streams.json", "", 200}, {"GET", "/courses.json", "", 200},
		{"GET", "/", "evil.example", 421}, {"GET", "/streams.json", "evil.example:80", 421}, {"POST", "/", "", 405}, {"PUT", "/streams.json", "", 405},
		{"DELETE", "/", "", 405}, {"OPTIONS", "/", "", 405}, {"GET", "/etc/passwd", "", 404}, {"GET", "/../x", "", 404},
	} {
		answer, body := ask(t, c.method, at+c.path, c.host)
		if answer.StatusCode != c.status {
			t.Errorf("%s %s of %q: %s %s", c.method, c.path, c.host, answer.Status, body)
		}
		h := answer.Header
		if !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
			h.Get("Access-Control-Allow-Origin") != "" || h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: %v", c.method, c.path, h)
		}
		if c.status == 421 && bytes.Contains(body, []byte("streams")) {
			t.Errorf("%s gets %s", c.host, body)
		}
	}
}

func TestTheNoteSaysWhoCanRead(t *testing.T) {
	for text, anybody := range map[string]bool{":8099": false, "[::1]:8099": false, "10.0.0.7:8099": true, "0.0.0.0:8099": true} {
		at, err := web.ParseAddress(text)
		if note := (&Server{at: at}).Note(); err != nil || strings.Contains(note, "anybody") != anybody {
			t.Errorf("%s: %s (%v)", text, note, err)
		}
	}
}

// schemaOf is one definition of the page's schema, by which the script reads.
func schemaOf(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	b, err := os.ReadFile("../../../report/page.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	delete(doc.(map[string]any), "$id")
	delete(doc.(map[string]any)["properties"].(map[string]any), "verdict")
	c := jsonschema.NewCompiler()
	if err := c.AddResource("https://snag.invalid/page", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://snag.invalid/page#/$defs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What the page gets from a real watch fits the schema, and holds no secrets.
func TestWhatThePageIsTold(t *testing.T) {
	at := serving(t, "rtmp://user:secret@host/live/cam1?key=alsosecret", "rtmp://host/no/cam2?token=alsosecret")
	var is struct {
		Now, Begin float64
		Sick       int
		Streams    json.RawMessage
	}
	var data streams.Data
	var all []byte
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(500 * time.Millisecond) {
		_, all = ask(t, "GET", at+"/streams.json", "")
		if err := json.Unmarshal(all, &is); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(is.Streams, &data); err != nil {
			t.Fatal(err)
		}
		if len(data.Rows) == 2 && data.Rows[1].FPS != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("no frame rate after 20 s: %s", all)
		}
	}
	refused, well := data.Rows[0], data.Rows[1]
	if is.Sick != 1 || refused.State != "refused" || refused.FPS != nil || refused.Freezes != nil || refused.Why == "" || well.State != "ok" || *well.FPS < 20 || *well.FPS > 30 || well.Size != "320×180" {
		t.Errorf("%s", all)
	}
	_, courses := ask(t, "GET", at+"/courses.json?id="+url.QueryEscape(well.ID)+"&id=no/such&id="+url.QueryEscape(refused.ID), "")
	var details []json.RawMessage
	if err := json.Unmarshal(courses, &details); err != nil || len(details) != 2 {
		t.Fatalf("%s (%v)", courses, err)
	}
	for name, doc := range map[string][]byte{"streams": is.Streams, "detail": details[0]} {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		if err := schemaOf(t, name).Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if bytes.Contains(all, []byte("secret")) || bytes.Contains(courses, []byte("secret")) {
		t.Errorf("a secret is sent: %s", all)
	}
}

// Of a thousand streams an answer takes a moment, and one within a second of it nothing.
func BenchmarkStreams(b *testing.B) {
	w := watch.New(watch.Options{Open: func(*url.URL) (stream.Open, error) { return gives, nil }, Anchor: probe.NewAnchor(), PerSecond: 1000, Remember: true})
	var list []watch.Entry
	for i := range 1000 {
		e, err := watch.NewEntry(fmt.Sprintf("rtmp://host/live/cam%d", i), "the benchmark")
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, e)
	}
	w.Set("test", list)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { w.Run(ctx); close(done) }()
	time.Sleep(5 * time.Second)
	cancel()
	<-done
	for b.Loop() {
		d := &watched{w: w}
		out, err := json.Marshal(d.streams())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(out)), "B")
		runtime.KeepAlive(out)
	}
}
