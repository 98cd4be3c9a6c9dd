package lab

import (
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	// A name may hold brackets and spaces: /proc/812/stat of `perl -e '$0="a) S (b"'`.
	raw := "812 (a) S (b) T 1 811 700 34816 812 4194304 100 0 0 0 1 2 0 0 20 0 1 0 987654 1000 10 18446744073709551615"
	st, err := parseStat(raw)
	if err != nil {
		t.Fatal(err)
	}
	if want := (stat{'T', 811, 700, 987654}); st != want {
		t.Errorf("got %+v, want %+v", st, want)
	}
	for _, bad := range []string{"", "812 (x", "812 (x) S 1 2", strings.Replace(raw, "987654", "x", 1)} {
		if _, err := parseStat(bad); err == nil {
			t.Errorf("parseStat(%q) gave no error", bad)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("812 (a) S (b) T 1 811 700 34816 812 4194304 100 0 0 0 1 2 0 0 20 0 1 0 987654 1000")
	f.Add(")")
	f.Fuzz(func(t *testing.T, raw string) { _, _ = parseStat(raw) })
}

func TestReadNotes(t *testing.T) {
	lines := `{"add":{"kind":"netns","path":"snaglab1-a"}}
{"add":{"kind":"process","pid":7,"start":9,"session":3}}
`
	made, done := readNotes(strings.NewReader(lines + `{"add":{"kind":"cgr`))
	if done || len(made) != 2 || made[1] != (item{Kind: kindProcess, PID: 7, Start: 9, Session: 3}) {
		t.Errorf("a torn line: got %v, done %v", made, done)
	}
	if _, done := readNotes(strings.NewReader(lines + `{"done":true}` + "\n")); !done {
		t.Error("done was not understood")
	}
}

func TestCounterIn(t *testing.T) {
	raw := "Udp: InDatagrams NoPorts RcvbufErrors\nUdp: 7 8 9\nUdpLite: InDatagrams NoPorts\nUdpLite: 1 2\n"
	if n, ok := counterIn(raw, "Udp", "RcvbufErrors"); !ok || n != 9 {
		t.Errorf("RcvbufErrors: %d, %v", n, ok)
	}
	if n, ok := counterIn(raw, "UdpLite", "RcvbufErrors"); ok {
		t.Errorf("a counter that is not there: %d", n)
	}
}

func FuzzCounterIn(f *testing.F) {
	f.Add("Udp: InDatagrams NoPorts\nUdp: 7 8\n")
	f.Add("Udp:\nUdp:\n")
	f.Fuzz(func(t *testing.T, raw string) { _, _ = counterIn(raw, "Udp", "NoPorts") })
}

func FuzzReadNotes(f *testing.F) {
	f.Add(`{"add":{"kind":"netns","path":"x"}}` + "\n" + `{"done":true}`)
	f.Fuzz(func(t *testing.T, raw string) { _, _ = readNotes(strings.NewReader(raw)) })
}

func TestChosen(t *testing.T) {
	for text, want := range map[string]string{"always [madvise] never\n": "madvise", "4096\t8192\n": "4096\t8192", "a [b": "a [b"} {
		if got := chosen(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
