package recording

import (
	"testing"
	"time"
)

func at(s string) Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return Time(t.UnixNano())
}

func TestFindMoment(t *testing.T) {
	now := at("2026-11-21T13:20:00Z") // 14:20 one hour east
	for _, c := range []struct{ text, want, rest string }{
		{"freeze 14:17:28 stream X", "2026-11-21T13:17:28Z", "freeze stream X"},
		{"14:17", "2026-11-21T13:17:00Z", ""},
		{"slow since 9:05 on 10.0.0.1:1935", "2026-11-21T08:05:00Z", "slow since on 10.0.0.1:1935"},
		{"2026-11-20 23:59:59.250 reset", "2026-11-20T22:59:59.25Z", "reset"},
		{"at 13:17:28Z", "2026-11-21T13:17:28Z", "at"},
		{"at 13:17:28 UTC", "2026-11-21T13:17:28Z", "at"},
		{"2026-11-21T09:17:28-04:00", "2026-11-21T13:17:28Z", ""},
		{"23:50 freeze", "2026-11-20T22:50:00Z", "freeze"}, // yesterday's
	} {
		got, rest, ok := FindMoment(c.text, now, 3600)
		if !ok || got != at(c.want) || rest != c.rest {
			t.Errorf("%q: %v %q %v, want %s %q", c.text, got.Wall(), rest, ok, c.want, c.rest)
		}
	}
	for _, text := range []string{"freeze", "10.0.0.1:1935 freezes", "port 8080", "[fe80::1:22]:80", "99:99"} {
		if got, _, ok := FindMoment(text, now, 0); ok {
			t.Errorf("%q is taken for %v", text, got.Wall())
		}
	}
}

func TestParseSince(t *testing.T) {
	now := at("2026-11-21T13:20:00Z")
	for text, want := range map[string]string{
		"5m": "2026-11-21T13:15:00Z", "13:00": "2026-11-21T13:00:00Z", "2026-11-20T13:00:00Z": "2026-11-20T13:00:00Z",
	} {
		if got, err := ParseSince(text, now, 0); err != nil || got != at(want) {
			t.Errorf("%q: %v, %v", text, got.Wall(), err)
		}
	}
	for _, text := range []string{"", "yesterday", "13:00 or so", "2026-11-22T13:00:00Z"} {
		if got, err := ParseSince(text, now, 0); err == nil {
			t.Errorf("%q is taken for %v", text, got.Wall())
		}
	}
}

func FuzzFindMoment(f *testing.F) {
	for _, s := range []string{"freeze 14:17:28 stream X", "2026-11-21T09:17:28.5-04:00", "[::1]:80", "24:00"} {
		f.Add(s)
	}
	now := at("2026-11-21T13:20:00Z")
	f.Fuzz(func(t *testing.T, s string) {
		if at, rest, ok := FindMoment(s, now, 3600); ok && (at == 0 || len(rest) >= len(s)) {
			t.Errorf("%q: %v, rest %q", s, at, rest)
		}
	})
}
