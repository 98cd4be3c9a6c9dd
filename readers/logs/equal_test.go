package logs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

// both reads each line of a text twice: by the code that knows its server, and by the
// ready map of that server, which says the same slowly in regular expressions.
func both(t *testing.T, text, name string, tell func(e *entry) string) (told int) {
	t.Helper()
	rules, err := readMap(name, ready(name))
	if err != nil {
		t.Fatal(err)
	}
	fast := parserOf(t, text)
	slow := *fast
	slow.rules, slow.columns = rules, nil
	clock := fast.clock
	for _, line := range strings.Split(text, "\n") {
		var a, b entry
		a.clear()
		b.clear()
		fast.line(&clock, []byte(line), &a)
		var matched bool
		if message, ok := slow.form.open(&clock, []byte(line), &b); ok {
			for _, r := range rules {
				if matched = r.apply(message, &b); matched {
					break
				}
			}
		}
		if !matched {
			continue // what no rule knows, the code may
		}
		told++
		if got, want := tell(&a), tell(&b); got != want {
			t.Errorf("%s\n  by code %s\n  by map  %s", line, got, want)
		}
	}
	return told
}

func TestTheCodeAgainstTheMaps(t *testing.T) {
	request := func(e *entry) string {
		text := fmt.Sprintf("%s %d %g", e.peer, e.status, e.took)
		for _, a := range e.asked[:e.nAsked] {
			text += fmt.Sprintf(" %g", a.took)
		}
		return text
	}
	failed := func(e *entry) string { return fmt.Sprintf("%s %s %s", e.what, e.peer, e.errno) }
	session := func(e *entry) string {
		_, name, slash := bytes.Cut(e.stream, []byte("/"))
		if !slash {
			name = e.stream
		}
		return fmt.Sprintf("%s %s %s %g %d %d", e.what, e.peer, name, e.lasted, e.in, e.out)
	}
	for _, c := range []struct {
		file, name string
		tell       func(*entry) string
		least      int
	}{
		{"nginx-timed.log", "nginx-access", request, 26},
		{"nginx-combined.log", "nginx-access", request, 26},
		{"nginx-error.log", "nginx-error", failed, 13},
		{"nginx-rtmp.log", "nginx-rtmp", session, 2},
		{"wowza.log", "wowza", func(e *entry) string {
			_, name, _ := bytes.Cut(e.stream, []byte("/"))
			if len(name) == 0 {
				name = e.stream
			}
			return fmt.Sprintf("%s %s %s", e.what, e.peer, name)
		}, 4},
		{"consul.log", "consul-memberlist", func(e *entry) string {
			return fmt.Sprintf("%s %s", e.what, bytes.Trim(e.member, ",:()"))
		}, 6},
	} {
		b, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := both(t, string(b), c.name, c.tell); n < c.least {
			t.Errorf("%s: the map %s knows %d lines, %d at least are there", c.file, c.name, n, c.least)
		}
	}
	// Formats that the real files have not: two numbers behind the user agent.
	var w strings.Builder
	for i := range 200 {
		fmt.Fprintf(&w, "10.0.0.%d - u%d [01/Mar/2026:12:%02d:%02d +0000] \"GET /a\\\"b?x=%d HTTP/1.1\" %d %d \"-\" \"a (b; \\\"c\\\") d\" %d.%03d %d.%03d\n",
			i, i, i/60, i%60, i, 200+i%300, i, i%7, i, i%7, i/2)
	}
	if n := both(t, w.String(), "nginx-access", request); n != 200 {
		t.Errorf("%d of 200 lines are known to the map", n)
	}
}

type sink struct{ recording.Recording }

func (s *sink) Sample(recording.Time, string, recording.Labels, float64) {}
func (s *sink) Append(row recording.Row)                                 { s.Add(row) }

func readText(t testing.TB, name, text string, rules []*rule) (reader.Told, *recording.Recording) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := reader.Open(file)
	if err != nil {
		if strings.HasPrefix(t.Name(), "Fuzz") {
			t.Skip(err) // no file at all, as one that begins like a packed one
		}
		t.Fatal(err)
	}
	defer in.Close()
	out := &sink{}
	o := reader.Options{Zone: time.UTC, Modified: time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)}
	told, err := read(context.Background(), in, o, rules, out)
	damaged := strings.HasPrefix(t.Name(), "Fuzz") && err != nil && strings.HasSuffix(err.Error(), "the file is damaged")
	if err != nil && !damaged {
		t.Fatal(err)
	}
	return told, &out.Recording
}

// TestRequestsAgainstAPlainCount holds the rows of requests against a count of the same
// lines one by one.
func TestRequestsAgainstAPlainCount(t *testing.T) {
	var b strings.Builder
	type second struct {
		n, open int
		sum     float64
	}
	want := map[int64]*second{}
	at := func(s int64) *second {
		if want[s] == nil {
			want[s] = &second{}
		}
		return want[s]
	}
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix()
	for i := range 3000 {
		end := begin + int64(i)/10 + int64(i*7%3) // workers' lines are out of order by seconds
		took := float64(i*i%7000) / 1000
		fmt.Fprintf(&b, "10.0.0.1 - - [%s] \"GET / HTTP/1.1\" 200 1 rt=%.3f\n", time.Unix(end, 0).UTC().Format("02/Jan/2006:15:04:05 -0700"), took)
		at(end).n++
		at(end).sum += took
		for s := end - 1; took >= 1 && float64(s) > float64(end)-took-1; s-- {
			at(s).open++
		}
	}
	_, r := readText(t, "access.log", b.String(), nil)
	got := map[int64]*second{}
	for _, row := range r.Turns {
		got[int64(row.T)/1e9] = &second{int(row.N), int(row.Open), row.Sum}
		n := uint64(0)
		for _, c := range row.Hist {
			n += c
		}
		if n != row.N || row.Role != "serve" {
			t.Fatalf("%+v", row)
		}
	}
	for s, w := range want {
		g := got[s]
		if g == nil || g.n != w.n || g.open != w.open || g.sum-w.sum > 1e-6 || w.sum-g.sum > 1e-6 {
			t.Fatalf("second %d: %+v, want %+v", s-begin, g, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d seconds, want %d", len(got), len(want))
	}
}

func TestRotatedNames(t *testing.T) {
	for in, want := range map[string]string{"a/access.log": "a/access.log", "a/access.log.1": "a/access.log", "access.log.12.gz": "access.log", "access.log-20260301": "access.log", "x-1": "x-1"} {
		if got := rotated(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestMapsSayWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "no pattern",
		"# x\n\nfoo":                    "m:3: write what",
		"refused %{NOPE:x}":             "there is no pattern NOPE",
		"refused (":                     "m:1:",
		"define A %{A}\nrefused %{A}":   "stand for themselves",
		"define 1-2 x\n":                "write define NAME REGEXP",
		"Refused x":                     "m:1: write what",
		"define A %{B}%{B}\nrefused ok": "",
	} {
		_, err := readMap("m", strings.NewReader(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestLiterals(t *testing.T) {
	for pattern, want := range map[string]string{"no frames of (.*) for": "no frames of ", "a|b": "", "(?i)abc": "", "x+abc[0-9]": "abc", ".*": ""} {
		if got := literal(pattern); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

func TestAMapTellsFreezesAndSubjects(t *testing.T) {
	rules, err := readMap("m", strings.NewReader("define CAM cam\\d+\nskip ok$\nfreeze stalled: %{CAM:stream}\nunfreeze again: %{CAM:stream}\nrefused from %{IP:peer} rejected\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, r := readText(t, "app.log", "2026-03-01 12:00:00 stalled: cam7\n2026-03-01 12:00:01 from 10.0.0.9 rejected\n2026-03-01 12:00:02 from 10.0.0.9 rejected\n2026-03-01 12:00:03 again: cam7\n2026-03-01 12:00:04 ERROR ok\n", rules)
	var got []string
	for _, e := range r.Events {
		got = append(got, fmt.Sprintf("%s %s %s%s %g", e.Kind, e.Attrs["what"], e.Subject.Name, e.Subject.Remote, e.Value))
	}
	text := strings.Join(got, "; ")
	for _, want := range []string{"stream-freeze  cam7 3", "log-line refused 10.0.0.9 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if len(got) != 2 {
		t.Errorf("%s", text)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("10.0.0.7 - - [01/Mar/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 12 rt=2.500 ua=\"10.0.0.5:80, 10.0.0.6:80\" urt=\"2.000, 0.498\"\n")
	f.Add("2026/03/01 12:00:00 [error] 12#12: *45 recv() failed (104: Connection reset by peer), client: 1.2.3.4\n")
	f.Add("{\"time\":\"2026-03-01T12:00:00Z\",\"msg\":\"a\\u00e9 \\\"timed out\"}\n")
	f.Add("__CURSOR=x\n__REALTIME_TIMESTAMP=1772366400000000\nMESSAGE\n\x03\x00\x00\x00\x00\x00\x00\x00a\nb\n\n")
	f.Add("#Fields: date time x-event x-sname\n2026-03-01\t12:00:00\tplay\tcam\n")
	f.Add("<27>1 2026-03-01T12:00:00Z h a 1 - [x y=\"]\\]\"] m\n10.0.0.7 [01/Mar/2026:12:01:05 +0000] PUBLISH \"live\" \"cam1\" \"\" - 8 4 \"\" \"\" (1m 5s)\n")
	rules, err := readMap("nginx-error", ready("nginx-error"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !Format.Sniff([]byte(text)) {
			return
		}
		for _, with := range [][]*rule{nil, rules} {
			told, r := readText(t, "x.log", text, with)
			if len(told.Coverage) != 5 || len(r.Turns) > 1000+len(text)*130 {
				t.Errorf("%d rows of coverage, %d of requests", len(told.Coverage), len(r.Turns))
			}
		}
	})
}

func FuzzMap(f *testing.F) {
	f.Add("define A x\nfreeze %{A:stream} %{NUMBER:seconds}\n", "x 5")
	f.Fuzz(func(t *testing.T, text, line string) {
		rules, err := readMap("m", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, r := range rules {
			var e entry
			e.clear()
			m := r.re.MatchString(line)
			if got := r.apply([]byte(line), &e); got != m {
				t.Errorf("%s with the literal %q: %v, without: %v", r.re, r.literal, got, m)
			}
		}
	})
}

func BenchmarkAccess(b *testing.B) {
	text := []byte(strings.Repeat(`10.0.0.7 - - [01/Mar/2026:12:00:00 +0000] "GET /a/b/c?x=1 HTTP/1.1" 200 12345 "https://example.org/" "Mozilla/5.0 (X11; Linux x86_64)" rt=0.012 upstream=10.1.0.5:8080 urt=0.011`+"\n", 1000))
	p := parserOf(b, string(text))
	b.SetBytes(int64(len(text)))
	var entries []entry
	for b.Loop() {
		if entries = p.chunk(reader.Chunk{Data: text}, entries[:0]); len(entries) != 1000 || entries[999].nAsked != 1 {
			b.Fatal("not read")
		}
	}
}
