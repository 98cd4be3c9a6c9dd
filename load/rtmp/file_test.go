package rtmp

import (
	"strings"
	"testing"
	"time"
)

// flv is a file of pictures and audio, its stamps in ms; audio is negative.
func flv(stamps ...int) []byte {
	b := []byte("FLV\x01\x05\x00\x00\x00\x09\x00\x00\x00\x00")
	for _, s := range stamps {
		kind, body := byte(9), "\x17\x01\x00\x00\x00picture"
		if s < 0 {
			kind, body, s = 8, "\xaf\x01sound", -s
		}
		n := len(body)
		b = append(b, kind, 0, byte(n>>8), byte(n), byte(s>>16), byte(s>>8), byte(s), byte(s>>24), 0, 0, 0)
		b = append(append(b, body...), 0, 0, 0, byte(n+11))
	}
	return b
}

// Tags are sent at their own times, never before the one before, and the file again when it is over.
func TestFile(t *testing.T) {
	f, err := NewFile(flv(5000, -5010, 5040, -5033, 5080, 5120))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]int{{0, 0}, {10, 10}, {40, 40}, {40, 33}, {80, 80}, {120, 120}, {160, 160}, {170, 170}, {200, 200}, {200, 193}, {240, 240}, {280, 280}, {320, 320}} {
		at, stamp, tag := f.next(i)
		if at != ms(want[0]) || stamp != uint32(want[1]) || tag != &f.Tags[i%6] {
			t.Errorf("tag %d is due at %v with the stamp %d, want %v", i, at, stamp, want)
		}
	}
	if f.Length() != 160*time.Millisecond || f.Rate() != 6/0.16 {
		t.Errorf("it lasts %v, %.1f tags/s", f.Length(), f.Rate())
	}
	// Audio that is longer than the pictures: these go on evenly, and nothing is due before what was sent.
	long, err := NewFile(flv(0, 40, -130))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]int{{0, 0}, {40, 40}, {130, 130}, {130, 80}, {130, 120}, {210, 210}, {210, 160}} {
		if at, stamp, _ := long.next(i); at != ms(want[0]) || stamp != uint32(want[1]) {
			t.Errorf("tag %d of long audio is due at %v with the stamp %d, want %v", i, at, stamp, want)
		}
	}
	wraps, err := NewFile(flv(1<<32-40, 0, 40))
	if err != nil || wraps.Length() != 120*time.Millisecond {
		t.Errorf("stamps that wrap: %v, %v", wraps.Length(), err)
	}
	if _, err := NewFile([]byte("RIFF")); err == nil || !strings.Contains(err.Error(), "not an FLV file") {
		t.Error(err)
	}
}

func TestBadPlans(t *testing.T) {
	file, err := NewFile(flv(0, 40))
	if err != nil {
		t.Fatal(err)
	}
	to, err := Parse("rtmp://127.0.0.1/live/cam")
	if err != nil || to.Address() != "127.0.0.1:1935" || to.App != "live" || to.Name != "cam" {
		t.Fatalf("%+v, %v", to, err)
	}
	good := Plan{Target: to, Players: 1, Publishers: 1, File: file, For: time.Second, Timeout: time.Second}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Plan){
		"0 players and 0 publishers":  func(p *Plan) { p.Players, p.Publishers = 0, 0 },
		"-1 players":                  func(p *Plan) { p.Players = -1 },
		"publishers need a file":      func(p *Plan) { p.File = File{} },
		"longer than 0 s":             func(p *Plan) { p.For = 0 },
		"an answer needs a time":      func(p *Plan) { p.Timeout = 0 },
		"200000 players and 1 publis": func(p *Plan) { p.Players = 200_000 },
	} {
		p := good
		change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for text, want := range map[string]string{"rtmp://h": "no application", "rtmp:///live/x": "no host", "rtmp://h/live/": "no stream", "http://h/x": "not an RTMP URL"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	// 100 clients join within a tenth of a second, and 50 publishers send 25 tags per second each.
	p := good
	p.Players, p.Publishers = 50, 50
	if asks := p.Asks(); asks != 1000+50*25 {
		t.Errorf("%v per second", asks)
	}
}
