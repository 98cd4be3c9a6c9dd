package profile

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	pprof "github.com/google/pprof/profile"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"snag/recording"
	"snag/recording/rectest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func relay(tb testing.TB, kind string, pid int) *Profile {
	tb.Helper()
	c, err := rectest.Load("testdata/relay.txtar")
	if err != nil {
		tb.Fatal(err)
	}
	p, err := From(c.Recording, Options{Kind: kind, PID: pid})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

func TestText(t *testing.T) {
	for _, kind := range []string{OnCPU, OffCPU} {
		var b bytes.Buffer
		if err := relay(t, kind, 0).WriteText(&b, TextOptions{Most: 8}); err != nil {
			t.Fatal(err)
		}
		golden(t, kind+".txt", b.Bytes())
		if strings.ContainsRune(b.String(), '\x1b') {
			t.Error("a thread's name steers the terminal")
		}
	}
}

// A narrow terminal wraps no row of the table, and a wide one shows more of names.
func TestTextIsAsWideAsTheTerminal(t *testing.T) {
	for _, kind := range []string{OnCPU, OffCPU} {
		for _, width := range []int{60, 80, 120, 160} {
			var b bytes.Buffer
			if err := relay(t, kind, 0).WriteText(&b, TextOptions{Most: 8, Width: width}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s, %d columns: one of %d: %q", kind, width, n, line)
				}
			}
			if !strings.Contains(b.String(), "relay[812]") || width >= 80 && kind == OffCPU && !strings.Contains(b.String(), "pthread_mutex_lock") {
				t.Errorf("%s, %d columns: names are gone:\n%s", kind, width, b.String())
			}
		}
	}
}

// Threads that sat in one wait all the time have no stack: they are not left out.
func TestWhatHasNoStackIsALine(t *testing.T) {
	p := &Profile{Kind: OffCPU, Unit: Seconds, Seconds: 2, Samples: []Sample{{PID: 7, TID: 8, Process: "a", Thread: "b", Reason: "futex", N: 1, Value: 2}}}
	var b bytes.Buffer
	if err := p.WriteText(&b, TextOptions{Most: 5}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "[no stack]") || !strings.Contains(text, "futex") || strings.Contains(text, "frames have a name") {
		t.Errorf("%s", text)
	}
	b.Reset()
	if err := (&Profile{Kind: OnCPU, Seconds: 2, Taken: 400}).WriteText(&b, TextOptions{Most: 5}); err != nil || !strings.Contains(b.String(), "nothing of it ran") || strings.Contains(b.String(), " Hz") {
		t.Errorf("%v %s", err, b.String())
	}
}

func TestFolded(t *testing.T) {
	for _, kind := range []string{OnCPU, OffCPU} {
		var b bytes.Buffer
		if err := relay(t, kind, 0).WriteFolded(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, kind+".folded", b.Bytes())
	}
}

func TestTop(t *testing.T) {
	p := relay(t, OnCPU, 812)
	top := p.Top(1)
	if len(top.Lines) != 1 || top.Left != 10 {
		t.Fatalf("%d lines, %d left", len(top.Lines), top.Left)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	l := top.Lines[0]
	if l.Function != "relay::Lock::spin" || l.Object != "/opt/relay" || l.Thread != "relay[812]" {
		t.Errorf("%+v", l)
	}
	near("self", l.Self, 1)
	near("all", top.Total, 150./99)
	near("without a stack", top.NoStack, 6./150)
	near("cut", top.Cut, 30./150)
	near("without a name", top.Nameless, 15./150)
	near("named frames", top.Frames, (99*5+30*4+15)/(99*5.+30*4+15*2))
	if top.CutIn != "/opt/relay" {
		t.Errorf("cut in %s", top.CutIn)
	}
	for _, l := range p.Top(100).Lines {
		if l.Function == "relay::forward" {
			near("a recursion's total", l.Total, 1)
		}
		if l.Self > l.Total {
			t.Errorf("%+v", l)
		}
	}
}

// The time off the CPU belongs to the function that waited, not to the scheduler.
func TestTopOfWaits(t *testing.T) {
	l := relay(t, OffCPU, 0).Top(10).Lines[0]
	if l.Function != "pthread_mutex_lock" || l.Self != 1.25 || l.Reason != "futex" || l.Thread != "relay[812] reader-1" {
		t.Errorf("%+v", l)
	}
}

func TestNotRecorded(t *testing.T) {
	c, err := rectest.Parse([]byte("-- manifest --\n{\"seconds\": 2}\n-- blind --\noncpu.stacks\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := From(c.Recording, Options{Kind: OnCPU}); err == nil || !strings.Contains(err.Error(), "on the CPU") {
		t.Errorf("%v", err)
	}
}

// pprof's own reader takes it, and go tool pprof prints the same numbers.
func TestPprof(t *testing.T) {
	for _, kind := range []string{OnCPU, OffCPU} {
		p := relay(t, kind, 0)
		var b bytes.Buffer
		if err := p.WritePprof(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "p.pb.gz")
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		read, err := pprof.Parse(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := read.CheckValid(); err != nil {
			t.Fatal(err)
		}
		seconds := 0.0
		for _, s := range read.Sample {
			seconds += float64(s.Value[1]) / 1e9
		}
		if d := seconds - p.Total(); d > 1e-6 || d < -1e-6 {
			t.Errorf("%s: %g s of %g", kind, seconds, p.Total())
		}
		ids := map[string]string{}
		for _, m := range read.Mapping {
			ids[m.File] = m.BuildID
		}
		if ids["/opt/relay"] != "9c81348976100179" {
			t.Errorf("build ids %v", ids)
		}
		out, err := exec.Command("go", "tool", "pprof", "-top", path).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want := "relay::Lock::spin"
		if kind == OffCPU {
			want = "__schedule"
		}
		if !strings.Contains(string(out), want) {
			t.Errorf("%s", out)
		}
	}
}

// The file is what speedscope's own schema says (dist/release/
// file-format-schema.json of speedscope 1.25.0, MIT).
func TestSpeedscope(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("testdata/speedscope.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{OnCPU, OffCPU} {
		p := relay(t, kind, 0)
		var b bytes.Buffer
		if err := p.WriteSpeedscope(&b, "relay"); err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Error(err)
		}
		var f speedscopeFile
		if err := json.Unmarshal(b.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		for _, one := range f.Profiles {
			sum := 0.0
			for i, stack := range one.Samples {
				sum += one.Weights[i]
				for _, at := range stack {
					if at >= len(f.Shared.Frames) {
						t.Fatalf("frame %d of %d", at, len(f.Shared.Frames))
					}
				}
			}
			if len(one.Samples) != len(one.Weights) || sum < one.EndValue-1e-9 || sum > one.EndValue+1e-9 {
				t.Errorf("%s: %d samples, %d weights of %g s in %g s", one.Name, len(one.Samples), len(one.Weights), sum, one.EndValue)
			}
		}
	}
}

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "profiles")
	got, err := relay(t, OnCPU, 0).WriteFiles(dir)
	want := []string{filepath.Join(dir, "oncpu.pb.gz"), filepath.Join(dir, "oncpu.folded"), filepath.Join(dir, "oncpu.speedscope.json")}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v", got, err)
	}
	for _, f := range got {
		if st, err := os.Stat(f); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// What takes no memory for samples says the same as what does.
func TestHeaviestIsTop(t *testing.T) {
	r := &recording.Recording{}
	r.Stacks = []recording.Stack{
		{ID: 1, Frames: []string{"read", "f", "main"}, Objects: []string{"", "a", "a"}, Kernel: 1},
		{ID: 2, Frames: []string{"f", "f", "main"}, Objects: []string{"a", "a", "a"}},
		{ID: 3, Frames: []string{"f"}, Objects: []string{"b"}},
	}
	for i := range 60 {
		r.OnCPU = append(r.OnCPU, recording.OnCPU{T: recording.Time(i * 1e9), PID: i % 3, TID: i % 3, Comm: "x", Stack: 1 + i%3, N: uint64(1 + i%5), Hz: 99})
	}
	p, err := From(r, Options{Kind: OnCPU})
	if err != nil {
		t.Fatal(err)
	}
	want := p.Top(10)
	lines, total, samples, event := Heaviest(r, 10)
	if len(lines) != len(want.Lines) || math.Abs(total-want.Total) > 1e-9 || samples != 180 || event != "" {
		t.Fatalf("%d lines of %g, %d samples of %q; Top has %d of %g", len(lines), total, samples, event, len(want.Lines), want.Total)
	}
	for i, l := range lines {
		if w := want.Lines[i]; l.Function != w.Function || l.Object != w.Object || math.Abs(l.Self-w.Self) > 1e-9 || math.Abs(l.Total-w.Total) > 1e-9 {
			t.Errorf("line %d: %+v, Top has %+v", i, l, w)
		}
	}
}
