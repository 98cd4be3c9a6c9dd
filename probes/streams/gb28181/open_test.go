package gb28181

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/probes/streams/gb28181/gbtest"
	"snag/probes/streams/stream"
)

// taken is a sink that counts, and ends the reading when it has enough.
type taken struct {
	mu            sync.Mutex
	video, keys   int
	codec, remote string
	enough        int
	done          func()
}

func (s *taken) Published(_ int64, _, remote string) { s.remote = remote }
func (s *taken) Count(stream.Count, uint64)          {}
func (s *taken) Gauge(stream.Gauge, float64)         {}
func (s *taken) Params(p stream.Params) {
	if p.Kind == stream.Video {
		s.codec = p.Codec
	}
}
func (s *taken) Frame(f stream.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Kind == stream.Video {
		s.video++
	}
	if f.Key {
		s.keys++
	}
	if s.done != nil && s.video == s.enough {
		s.done()
	}
}

func read1(t *testing.T, ctx context.Context, raw string, sink stream.Sink) error {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return Open(ctx, u, sink, stream.Options{Timeout: time.Second})
}

func TestOpen(t *testing.T) {
	film := gbtest.Film(t, 3)
	for _, c := range []struct{ name, network, query string }{
		{"UDP", "udp", ""},
		{"the camera connects", "udp", "?media=tcp"},
		{"snag connects", "udp", "?media=tcp&setup=active"},
		{"SIP over TCP", "tcp", "?transport=tcp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := (&gbtest.Platform{ID: platformID, User: "me", Password: "x", Challenge: []string{"REGISTER", "INVITE"}, Film: film}).Serve(t, c.network)
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			sink := &taken{enough: 60, done: cancel}
			err := read1(t, ctx, strings.Replace(p.URL(), "//", "//me:x@", 1)+"/"+door+c.query, sink)
			if err != nil || sink.video < 60 || sink.keys < 2 || sink.codec != "h264" || sink.remote == "" {
				t.Errorf("%v; %+v; %q", err, sink, p.Seen())
			}
			if p.Count("BYE") != 1 || p.Playing() != 0 {
				t.Errorf("it did not end the call: %q", p.Seen())
			}
			if seen := p.Seen(); seen[len(seen)-1] != "REGISTER" || p.Count("ACK") != 2 { // one of the 401
				t.Errorf("%q", seen)
			}
		})
	}
}

// One registration serves all cameras, and the end of one call is not that of another.
func TestManyCameras(t *testing.T) {
	p := (&gbtest.Platform{ID: platformID, Film: gbtest.Film(t, 3)}).Serve(t, "udp")
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	var all sync.WaitGroup
	sinks := make([]*taken, 8)
	for i := range sinks {
		one, end := context.WithCancel(ctx)
		sinks[i] = &taken{enough: 20 + 5*i, done: end}
		all.Go(func() {
			if err := read1(t, one, p.URL()+"/"+door[:19]+string(rune('0'+i)), sinks[i]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, s := range sinks {
		if s.video < 20+5*i {
			t.Errorf("camera %d: %d pictures", i, s.video)
		}
	}
	if p.Count("INVITE") != 8 || p.Count("BYE") != 8 || p.Count("REGISTER") > 2 || p.Playing() != 0 {
		t.Errorf("%q", p.Seen())
	}
}

func TestOpenErrors(t *testing.T) {
	film := gbtest.Film(t, 1)
	for _, c := range []struct {
		name    string
		p       *gbtest.Platform
		want    string
		refused bool
	}{
		{"not found", &gbtest.Platform{Refuse: map[string]int{"INVITE": 404}}, "404 Not Found to INVITE", true},
		{"busy", &gbtest.Platform{Refuse: map[string]int{"INVITE": 486}}, "486 Busy Here to INVITE", true},
		{"not known", &gbtest.Platform{Refuse: map[string]int{"REGISTER": 403}}, "403 Forbidden to REGISTER", true},
		{"no answer", &gbtest.Platform{Deaf: map[string]int{"INVITE": 99}}, "no answer to INVITE within 1s", false},
		{"no media", &gbtest.Platform{NoMedia: true}, "the camera accepted INVITE, and nobody sent to UDP port", false},
		{"another format", &gbtest.Platform{SDP: func(s string) string { return strings.Replace(s, "96 PS/90000", "96 H264/90000", 1) }}, `it sends "H264/90000", not a program stream`, false},
		{"refused in SDP", &gbtest.Platform{SDP: func(s string) string { return strings.Replace(s, "m=video 40000", "m=video 0", 1) }}, "m=video 0", false},
		{"TCP in SDP", &gbtest.Platform{SDP: func(s string) string { return strings.Replace(s, "RTP/AVP", "TCP/RTP/AVP", 1) }}, "add ?media=tcp", false},
		{"no SDP", &gbtest.Platform{SDP: func(string) string { return "" }}, "no SDP with a picture", false},
		{"BYE", &gbtest.Platform{Film: film, EndsFilm: true}, "ended: the camera's side ended it (BYE)", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.p
			p.ID = platformID
			p.Serve(t, "udp")
			err := read1(t, context.Background(), p.URL()+"/"+door, &taken{})
			Leave(at(t, p.URL()), "")
			var refused *stream.Refused
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &refused) != c.refused {
				t.Errorf("%v", err)
			}
			if p.Count("INVITE") > 0 && p.Refuse["INVITE"] == 0 && c.name != "BYE" && p.Count("BYE") != 1 {
				t.Errorf("a call that was accepted stands: %q", p.Seen())
			}
		})
	}
}

// The response of a camera that takes long comes when nobody waits for it any more.
func TestAbandoned(t *testing.T) {
	p := (&gbtest.Platform{ID: platformID, Film: gbtest.Film(t, 1), Slow: 300 * time.Millisecond}).Serve(t, "udp")
	hold := at(t, p.URL())
	if _, err := Catalogue(context.Background(), hold, stream.Options{Timeout: time.Second}); err != nil {
		t.Fatal(err) // it keeps the registration
	}
	_, release, err := peers.acquire(context.Background(), hold, stream.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := read1(t, ctx, p.URL()+"/"+door, &taken{}); err != nil {
		t.Error(err)
	}
	time.Sleep(500 * time.Millisecond)
	if p.Count("CANCEL") != 1 || p.Count("ACK") != 1 || p.Count("BYE") != 1 || p.Playing() != 0 {
		t.Errorf("%q", p.Seen())
	}
	release(ctx)
}

func TestParse(t *testing.T) {
	for raw, want := range map[string]string{
		"gb28181:///" + platformID:                        "write gb28181://HOST",
		"gb28181://h":                                     "write gb28181://HOST",
		"gb28181://h/" + platformID + "/1/2":              "write gb28181://HOST",
		"gb28181://h/a%0d%0ab":                            "an id has",
		"gb28181://h/1?id=%22":                            "an id has",
		"gb28181://h/1?transport=sctp":                    `not "transport=sctp"`,
		"gb28181://h/1?media=udp":                         `not "media=udp"`,
		"gb28181://h/1?setup=active":                      "write media=tcp&setup=active",
		"gb28181://h/1?x=%1b":                             "not",
		"gb28181://h/" + platformID:                       "",
		"gb28181://[::1]:5061/1/2?media=tcp&setup=active": "",
		"gb28181://h/1?id=2&register=no&transport=udp":    "",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(u); (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b")) {
			t.Errorf("%s: %v", raw, err)
		}
	}
	for raw, want := range map[string]string{
		"gb28181://h/44010200492000000001":                         "44010200004000000001",
		"gb28181://34020000004010000007:x@h/34020000002000000001":  "34020000004010000007",
		"gb28181://me:x@h/34020000002000000001?id=34020000009":     "34020000009",
		"gb28181://me:x@h/34020000002000000001/34020000001320 ":    "",
		"gb28181://me:x@h/34020000002000000001/340200000013200001": "34020000004000000001",
	} {
		u, _ := url.Parse(raw)
		if a, err := Parse(u); err == nil && a.ID != want || err != nil && want != "" {
			t.Errorf("%s: %+v, %v", raw, a, err)
		}
	}
}
