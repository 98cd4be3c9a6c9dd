package compared

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"snag/compare"
	"snag/recording"
)

func shownPair(t *testing.T, good, bad string) *Shown {
	t.Helper()
	var both []*recording.Recording
	for _, name := range []string{good, bad} {
		r, err := recording.Open("../../lab/recordings/" + name + ".snag")
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, r)
	}
	return New(compare.Of(both[0], both[1]), "A.snag", "B.snag")
}

// The first line names who became slow, not who waits for him, and what takes the time.
func TestSentences(t *testing.T) {
	for pair, want := range map[[2]string]string{
		{"busy-thread-healthy", "busy-thread-sick"}:                 "stock-server 10.77.31.2:8081: the same requests take 24 times longer (26.9 ms, 1.12 ms before",
		{"cpu-throttled-healthy", "cpu-throttled-sick"}:             "89 % of that: throttled by its quota",
		{"cpu-throttled-sick", "cpu-throttled-healthy"}:             "the same requests take 98 % less time (4.13 ms, 171 ms before",
		{"cpu-throttled-healthy", "cpu-throttled-healthy"}:          "no worse: of 6 figures compared, none got worse by more than chance does",
		{"udp-receive-buffer-full-healthy", "reader-stall-healthy"}: "can't tell: neither recording has requests and answers of a service",
		{"slow-dependency-dns-healthy", "slow-dependency-dns-sick"}: "hardly answers any more: 2.8 answers per second, 77 before; 8 open requests without an answer",
		{"upstream-refused-healthy", "upstream-refused-sick"}:       "stock-server 10.89.1.2:8081 stopped answering: 0 answers per second, 19 before; 154 connects to it failed",
		{"cpu-throttled-healthy", "busy-thread-healthy"}:            "can't tell: no service or call is in both recordings",
	} {
		if got := shownPair(t, pair[0], pair[1]).Sentence(); !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", pair, got, want)
		}
	}
}

func TestTextFits80Columns(t *testing.T) {
	var b bytes.Buffer
	if err := shownPair(t, "busy-thread-healthy", "busy-thread-sick").WriteText(&b, 80); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines", len(lines))
	}
	for _, l := range lines {
		if n := len([]rune(l)); n > 100 {
			t.Errorf("%d columns: %s", n, l)
		}
	}
}

// A program that became slow, and a library of it that is another build: both are in the first line. The order of the
// CPU's features is no difference.
func TestSentenceOfAnotherLibrary(t *testing.T) {
	s := shownPair(t, "wrong-library-healthy", "wrong-library-sick")
	if got := s.Sentence(); !strings.HasPrefix(got, "codec-server 10.77.14.1:9000: the same requests take 295 % longer") || !strings.HasSuffix(got, "; its libcodec.so.1 is another build") {
		t.Error(got)
	}
	if got := shownPair(t, "wrong-library-sick", "wrong-library-healthy").Sentence(); strings.Contains(got, "build") {
		t.Errorf("a faster one is another build: %s", got)
	}
	without := func(keep func(flag string) bool) *Shown {
		a, b := s.A, *s.B
		b.Facts = slices.Clone(b.Facts)
		for i, f := range b.Facts {
			if f.Name == compare.CPUFlags {
				flags := strings.Fields(f.Value)
				slices.Reverse(flags)
				b.Facts[i].Value = strings.Join(slices.DeleteFunc(flags, func(flag string) bool { return !keep(flag) }), " ")
			}
		}
		return New(compare.Of(a, &b), "A", "B")
	}
	same := without(func(string) bool { return true })
	if slices.ContainsFunc(same.Settings, func(one compare.Setting) bool { return one.Name == compare.CPUFlags }) || strings.Contains(same.Sentence(), "CPU of B") {
		t.Errorf("flags in another order differ: %s", same.Sentence())
	}
	lacks := without(func(flag string) bool {
		return !strings.HasPrefix(flag, "avx2") && flag != "fma" && flag != "nx" && flag != "clzero"
	})
	if got := lacks.Sentence(); !strings.HasSuffix(got, "; its libcodec.so.1 is another build; the CPU of B lacks avx2, fma and 2 more") {
		t.Error(got)
	}
	at := slices.IndexFunc(lacks.Settings, func(one compare.Setting) bool { return one.Name == compare.CPUFlags })
	if at < 0 || lacks.Settings[at].A != "nx fma avx2 clzero" || lacks.Settings[at].B != "" {
		t.Errorf("%+v", lacks.Settings)
	}
}

// Of two profiles without requests the sentence names what compares them.
func TestSentenceOfTwoProfiles(t *testing.T) {
	s := shownPair(t, "busy-thread-healthy", "busy-thread-healthy")
	for name, c := range map[string]struct {
		a, b []recording.OnCPU
		want string
	}{
		"both":    {[]recording.OnCPU{{N: 1}}, []recording.OnCPU{{N: 1}}, "can't tell: neither recording has requests and answers of a service; snag profile diff A B compares where their CPU time went"},
		"one":     {[]recording.OnCPU{{N: 1}}, nil, "can't tell: neither recording has requests and answers of a service; record under load"},
		"neither": {nil, nil, "can't tell: neither recording has requests and answers of a service; record under load"},
	} {
		a, b := &recording.Recording{Manifest: s.A.Manifest, OnCPU: c.a}, &recording.Recording{Manifest: s.B.Manifest, OnCPU: c.b}
		if got := New(compare.Of(a, b), "A", "B").Sentence(); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A service that is not there in B is named in the first line, and why B can't be judged.
func TestSentenceOfAServiceThatIsGone(t *testing.T) {
	s := shownPair(t, "busy-thread-healthy", "busy-thread-healthy")
	for elsewhere, want := range map[bool]string{
		false: "can't tell: shop 10.0.0.1:80 had 9.5 answers per second in A, and its program does not run in B",
		true:  "can't tell: shop 10.0.0.1:80 had 9.5 answers per second in A, and nothing listens at its address in B",
	} {
		s.Gone = []compare.Silent{{Name: "shop 10.0.0.1:80", RateA: 9.5, Elsewhere: elsewhere}}
		if got := s.Sentence(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A stream that B lost is in the first line, before all else, and so is what got worse of one.
func TestSentencesOfStreams(t *testing.T) {
	s := shownPair(t, "busy-thread-healthy", "busy-thread-healthy")
	for want, l := range map[string]compare.Lost{
		"stream live/one is not in B, 25 frames per second in A":                     {Name: "live/one", FPS: 25},
		"stream live/one gave no frame in B (refused), 25 frames per second in A":    {Name: "live/one", FPS: 25, URLB: "rtmp://b/live/one", Why: "refused"},
		"stream live/one: no frame in the last 12 s of B, 25 frames per second in A": {Name: "live/one", FPS: 25, URLB: "rtmp://b/live/one", Since: 12},
	} {
		s.Lost = []compare.Lost{l}
		if got := s.Sentence(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, a := range map[string]compare.Amount{
		"stream live/one: 12 frames per second, 25 before":           {What: "frames", Change: compare.Change{A: 25, B: 12}},
		"stream live/one: 500 kb/s, 1000 kb/s before":                {What: "bit rate", Unit: "bit", Change: compare.Change{A: 1e6, B: 5e5}},
		"stream live/one: frames come 1.2 s late, 10 ms before":      {What: "lateness", Change: compare.Change{A: 0.01, B: 1.2}},
		"stream live/one: frozen for 250 ms per second, 0 ms before": {What: "frozen", Unit: "s", Change: compare.Change{A: 0, B: 0.25}},
	} {
		a.Stream = "live/one"
		if got := s.streamWorse(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A document has no null where a list belongs, and no number that JSON can't have.
func TestJSON(t *testing.T) {
	for _, pair := range [][2]string{{"busy-thread-healthy", "busy-thread-sick"}, {"reader-stall-healthy", "reader-stall-sick"}} {
		var b bytes.Buffer
		if err := shownPair(t, pair[0], pair[1]).WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		var d map[string]any
		if err := json.Unmarshal(b.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"parties", "amounts", "functions", "builds", "settings", "only_a", "only_b", "too_few", "not_compared", "stopped", "quiet", "gone", "streams", "lost"} {
			if _, ok := d[list].([]any); !ok {
				t.Errorf("%s of %v: %v", list, pair, d[list])
			}
		}
	}
}
