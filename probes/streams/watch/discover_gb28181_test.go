package watch

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/gb28181/gbtest"
	"snag/probes/streams/stream"
)

const gbPlatform = "34020000002000000001"

func gbCamera(n int) string { return fmt.Sprintf("3402000000132%07d", n) }

func gbDiscovery(t *testing.T, spec string) *Discovery {
	t.Helper()
	d, err := ParseDiscovery(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leaveGB28181(d) })
	return d
}

func TestDiscoverGB28181(t *testing.T) {
	p := (&gbtest.Platform{ID: gbPlatform, User: "34020000004000000007", Password: "s3 cret", Each: 2, Cameras: []gbtest.Camera{
		{ID: gbCamera(1), Name: "door", Status: "ON"}, {ID: gbCamera(2), Name: "hall\x1b[2J\u202e", Status: "OFF"},
		{ID: gbCamera(3), Name: "yard\x1b[31m\u009b2J", Status: "ON"}, {ID: gbCamera(4), Name: "door", Status: "ON"},
		{ID: "34020000/../x@evil", Name: "x", Status: "ON"}, {ID: "3402", Name: "a region"},
	}}).Serve(t, "tcp")
	file := filepath.Join(t.TempDir(), "servers")
	if err := os.WriteFile(file, []byte("127.0.0.1 user="+p.User+" password='s3 cret'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	with, err := ReadCredentials(file)
	if err != nil {
		t.Fatal(err)
	}
	d := gbDiscovery(t, p.URL()+"?transport=tcp&media=tcp")
	d.With(with)
	for range 2 {
		entries, problems, err := d.Ask(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		want := []string{}
		for _, n := range []int{1, 3, 4} {
			want = append(want, "gb28181://"+p.Address+"/"+gbPlatform+"/"+gbCamera(n)+"?id=34020000004000000007&media=tcp&transport=tcp")
		}
		if got := urls(entries); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name)
		}
		if want := []string{"door " + gbCamera(1), `yard�[31m\xc2\x9b2J`, "door " + gbCamera(4)}; !slices.Equal(names, want) || entries[0].Labels.String() != "device="+gbPlatform {
			t.Errorf("%q, labels %s", names, entries[0].Labels)
		}
		if len(problems) != 2 || !strings.Contains(problems[0].Why, `"hall�[2J\\xe2\\x80\\xae" (`+gbCamera(2)+`) is OFF`) || !strings.Contains(problems[1].Why, "none of SIP's") {
			t.Errorf("%v", problems)
		}
	}
	if p.Count("REGISTER") != 2 { // without credentials, and with them
		t.Errorf("%q", p.Seen())
	}
}

// What is missing of a catalogue is said, and is no reason to let cameras go.
func TestGB28181InPart(t *testing.T) {
	p := (&gbtest.Platform{ID: gbPlatform, Each: 1}).Serve(t, "udp")
	for n := range 4 {
		p.Cameras = append(p.Cameras, gbtest.Camera{ID: gbCamera(n), Name: fmt.Sprint("cam", n), Status: "ON"})
	}
	d := gbDiscovery(t, p.URL())
	whole, problems, err := d.Ask(context.Background())
	if err != nil || len(whole) != 4 || len(problems) != 0 {
		t.Fatalf("%v, %v, %v", whole, problems, err)
	}
	p.Set(func() { p.Hold = 3 })
	part, problems, err := d.Ask(context.Background())
	if err != nil || !slices.Equal(urls(part), urls(whole)) || len(problems) != 1 || !strings.Contains(problems[0].Why, "1 of 4 items") {
		t.Errorf("%v, %v, %v", part, problems, err)
	}
	p.Set(func() { p.Hold, p.Cameras = 0, p.Cameras[:1] })
	one, problems, err := d.Ask(context.Background())
	if err != nil || len(one) != 1 || len(problems) != 0 {
		t.Errorf("%v, %v, %v", one, problems, err)
	}
}

// A camera that is OFF is said once, and watched once it is ON.
func TestGB28181OffThenOn(t *testing.T) {
	p := (&gbtest.Platform{ID: gbPlatform, Cameras: []gbtest.Camera{{ID: gbCamera(1), Name: "door", Status: "OFF"}}}).Serve(t, "udp")
	var notes []string
	never := func(*url.URL) (stream.Open, error) {
		return func(ctx context.Context, _ *url.URL, _ stream.Sink, _ stream.Options) error { <-ctx.Done(); return nil }, nil
	}
	w := New(Options{Open: never, Note: func(s string) { notes = append(notes, s) }, Most: 10})
	f := w.following(gbDiscovery(t, p.URL()))
	for range 3 {
		f.ask(context.Background(), time.Now())
	}
	if len(notes) != 1 || !strings.Contains(notes[0], `"door" (`+gbCamera(1)+") is OFF") {
		t.Errorf("%q", notes)
	}
	if len(f.seen.order) != 0 {
		t.Errorf("watched: %v", f.seen.order)
	}
	p.Set(func() { p.Cameras[0].Status = "ON" })
	f.ask(context.Background(), time.Now())
	if len(f.seen.order) != 1 || f.seen.order[0].Name != "door" {
		t.Errorf("watched: %v", f.seen.order)
	}
}

func TestGB28181Spec(t *testing.T) {
	for spec, says := range map[string]string{
		"gb28181://h":                          "//HOST[:5060]/DEVICE_ID",
		"gb28181:http://h/1":                   "//HOST[:5060]/DEVICE_ID",
		"gb28181://h/1/2":                      "one camera, which is read without --discover",
		"gb28181://me:hunter2@h/1?transport=x": "transport=udp or tcp",
		"gb28181://h/1 url=rtmp://{host}/{x}":  "{device}",
	} {
		if _, err := ParseDiscovery(spec); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", spec, err)
		}
	}
	d := gbDiscovery(t, "gb28181://me:hunter2@h:5061/1 url=rtmp://{host}/{device}/{stream}")
	if d.Name() != "gb28181 gb28181://h:5061/1" {
		t.Error(d.Name())
	}
	entries, problems := d.entries([]vars{{"device": "1", "stream": "2", ownQuery: "id=3"}})
	if len(problems) > 0 || entries[0].URL.String() != "rtmp://h/1/2" {
		t.Errorf("%v, %v", entries, problems)
	}
	d.web.token = "abc"
	if _, _, err := d.Ask(context.Background()); err == nil || !strings.Contains(err.Error(), "SIP wants user= and password=") {
		t.Error(err)
	}
}
