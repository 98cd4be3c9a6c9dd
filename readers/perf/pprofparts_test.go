package perf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// manySamples makes a profile of several lots.
func manySamples(t *testing.T) []byte {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}, TimeNanos: 1_700_000_000e9, DurationNanos: 30e9}
	for i := range 600 {
		f := &profile.Function{ID: uint64(i + 1), Name: fmt.Sprintf("f%d", i)}
		p.Function = append(p.Function, f)
		p.Location = append(p.Location, &profile.Location{ID: uint64(i + 1), Line: []profile.Line{{Function: f}}})
	}
	for i := range 80_000 {
		s := &profile.Sample{Value: []int64{2, 20e6}, NumLabel: map[string][]int64{"pid": {int64(700 + i%3)}}, Label: map[string][]string{"thread": {fmt.Sprintf("worker-%d", i%3)}}}
		for k := range 60 {
			s.Location = append(s.Location, p.Location[(i%500+k)%600])
		}
		p.Sample = append(p.Sample, s)
	}
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A profile is read in lots as it is read whole.
func TestPprofInLots(t *testing.T) {
	b := manySamples(t)
	names, err := pprofNames(bytes.NewReader(b))
	if err != nil || len(b)-len(names) < 2*pprofLot {
		t.Fatalf("%d bytes, %d of them names, %v: too few for several lots", len(b), len(names), err)
	}
	lots, samples := 0, 0
	if err := pprofSamples(bytes.NewReader(b), names, func(p *profile.Profile) { lots++; samples += len(p.Sample) }); err != nil || samples != 80_000 || lots < 3 {
		t.Errorf("%d samples in %d lots, %v", samples, lots, err)
	}
	path := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r, told := fileOf(t, path)
	sum, time := uint64(0), 0.0
	for _, row := range r.OnCPU {
		sum += row.N
		time += float64(row.N) / row.Hz
		if row.PID < 700 || row.Comm != fmt.Sprintf("worker-%d", row.PID-700) {
			t.Fatalf("%+v", row)
		}
	}
	if sum != 160_000 || time < 1599.9 || time > 1600.1 || len(r.Stacks) != 500 || told.Coverage[0].Why != "" {
		t.Errorf("%d samples, %g s, %d stacks: %+v", sum, time, len(r.Stacks), told.Coverage[0])
	}
	// Cut in a sample, and in a name.
	for _, n := range []int{len(b) / 2, len(b) - 3} {
		if _, err := pprofNames(bytes.NewReader(b[:n])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d of %d bytes: %v", n, len(b), err)
		}
	}
}

// What JSON passes over it passes over whole, and what is damaged ends with where.
func TestJSONScan(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":{"b":[1,"]}\"",{}],"c":null},"want":"yes\u00e9"}`: "yesé",
		` { "x" : [ ] , "want" : "w" } `:                        "w",
		`{"want":12}`:                                           "",
	} {
		s, got := newJSONScan(strings.NewReader(text)), ""
		s.object(func(key string) {
			if key != "want" {
				s.skip()
				return
			}
			got = s.string()
		})
		s.end()
		if s.err != nil || got != want {
			t.Errorf("%s: %q, %v", text, got, s.err)
		}
	}
	for _, text := range []string{"", "{", `{"a"`, `{"a":}`, `{"a":1,}`, `{"a":[1,2}`, `{"a":1}x`, `["a"]`, `{"a":"` + strings.Repeat("x", 10)} {
		s := newJSONScan(strings.NewReader(text))
		s.object(func(string) { s.skip() })
		s.end()
		if s.err == nil && text != `{"a":[1,2}` { // brackets of what is passed over are only counted
			t.Errorf("%q is taken for JSON", text)
		}
	}
}
