package perf

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"snag/readers/reader"
	"snag/recording"
)

type sink struct{ recording.Recording }

func (s *sink) Sample(recording.Time, string, recording.Labels, float64) {}
func (s *sink) Append(row recording.Row)                                 { s.Add(row) }

const script = `# captured on    : Sat Nov 21 17:16:40 2026
a b 12/13 [001] 100.100000:   10101010 cpu-clock:pppH: 
	ffffffff8106d1e4 native_write_msr+0x4 ([kernel.kallsyms])
	          401000 work+0x10 (/bin/x)
	          402000 main+0x1 (/bin/x)

a b 12/13 [001] 100.200000:   10101010 cpu-clock:pppH: 
	ffffffff8106d1e4 native_write_msr+0x4 ([kernel.kallsyms])
	          401004 work+0x14 (/bin/x)
	          402000 main+0x1 (/bin/x)

c 14/14 [000] 101.300000:   500 cycles:u: 
	          401004 work+0x14 (/bin/x)
`

func readText(t *testing.T, text string) (*recording.Recording, *lines) {
	t.Helper()
	in := open(t, text)
	s := &sink{}
	l := newLines(newTally(s), 0, nil)
	if err := readScript(context.Background(), in, l); err != nil {
		t.Fatal(err)
	}
	l.close()
	l.end()
	return &s.Recording, l
}

// open puts a text into a file.
func open(t testing.TB, text string) *reader.Input {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := reader.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return in
}

func TestSamplesAreCountedByStack(t *testing.T) {
	r, j := readText(t, script)
	if j.samples != 3 || j.noise != 0 || len(r.Stacks) != 2 || len(r.OnCPU) != 2 {
		t.Fatalf("%d samples, noise %d, stacks %v, rows %+v", j.samples, j.noise, r.Stacks, r.OnCPU)
	}
	if a := r.OnCPU[0]; a.N != 2 || a.PID != 12 || a.TID != 13 || a.Comm != "a b" || a.Event != "" || a.Hz < 98.9 || a.Hz > 99.1 || a.T != 100e9 {
		t.Errorf("%+v", a)
	}
	if c := r.OnCPU[1]; c.Event != "cycles" || c.Weight != 500 || c.Hz != 0 {
		t.Errorf("%+v", c)
	}
	if s := r.Stacks[0]; s.Kernel != 1 || s.Frames[1] != "work" || s.Objects[1] != "/bin/x" {
		t.Errorf("%+v", s)
	}
}
