package perf

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

// What perf itself records of a program with known functions, on this machine.

const program = `
#include <stdio.h>
volatile unsigned long sum;
__attribute__((noinline)) void thrice(long n) { for (long i = 0; i < 3 * n; i++) sum += i; }
__attribute__((noinline)) void once(long n) { for (long i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) void both(long n) { thrice(n); once(n); }
int main(void) { char b[64]; for (int i = 0; i < 40; i++) { both(1000000 + 79190 * (i % 13)); FILE *f = fopen("/proc/self/stat", "r"); if (f) { fread(b, 1, 64, f); fclose(f); } } return 0; }
`

// perfRun runs perf, which make setup installs.
func perfRun(t *testing.T, dir string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("perf")
	if err != nil {
		t.Fatal("perf is not installed: make setup")
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("perf %s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	return string(out)
}

func built(t *testing.T) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("perf record needs root here")
	}
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.c"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-Wl,--build-id", "-o", "my prog", "p.c")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return dir
}

// leaves are samples by the function that ran.
func leaves(r *recording.Recording) map[string]uint64 {
	stacks := map[int]recording.Stack{}
	for _, s := range r.Stacks {
		stacks[s.ID] = s
	}
	out := map[string]uint64{}
	for _, row := range r.OnCPU {
		name := "none"
		if s := stacks[row.Stack]; len(s.Frames) > 0 {
			name = s.Frames[0]
		}
		out[name] += row.N
	}
	return out
}

// kernelFunctions are samples by the function of the kernel that ran.
func kernelFunctions(r *recording.Recording) map[string]uint64 {
	out := map[string]uint64{}
	for _, row := range r.Profile {
		if row.Samples > 0 {
			out[row.Function] += row.Samples
		}
	}
	return out
}

// folded are samples by whole stack.
func folded(r *recording.Recording) map[string]uint64 {
	stacks := map[int]string{}
	for _, s := range r.Stacks {
		stacks[s.ID] = strings.Join(s.Frames, ";")
	}
	out := map[string]uint64{}
	for _, row := range r.OnCPU {
		out[row.Comm+";"+stacks[row.Stack]] += row.N
	}
	return out
}

var (
	headerLine = regexp.MustCompile(`^(.+?)\s+(\d+)/(\d+)\s+(?:\[\d+\]\s+)?[\d.]+:\s+(\d+)\s+(\S+):`)
	frameLine  = regexp.MustCompile(`^\s+([0-9a-f]+)\s+(.+) \((.*)\)$`)
)

// reference reads the text of perf script the slow way, as stackcollapse-perf.pl does:
// a sample is what stands between blank lines.
func reference(text string) map[string]uint64 {
	out := map[string]uint64{}
	for _, one := range strings.Split(text, "\n\n") {
		lines := strings.Split(strings.Trim(one, "\n"), "\n")
		for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
			lines = lines[1:]
		}
		if len(lines) == 0 || lines[0] == "" {
			continue
		}
		m := headerLine.FindStringSubmatch(lines[0])
		if m == nil {
			out["unread: "+lines[0]]++
			continue
		}
		var frames []string
		for _, l := range lines[1:] {
			f := frameLine.FindStringSubmatch(l)
			if f == nil {
				out["unread: "+l]++
				continue
			}
			name := f[2]
			if i := strings.LastIndex(name, "+0x"); i > 0 {
				name = name[:i]
			}
			if name == "[unknown]" && f[3] != "[unknown]" && len(f[1]) < 16 {
				name = "[" + strings.Trim(filepath.Base(strings.TrimSuffix(f[3], " (deleted)")), "[]") + "]"
			}
			if len(f[1]) == 16 { // the kernel's copies of a function
				for _, mark := range []string{".constprop.", ".isra.", ".part.", ".cold", ".llvm."} {
					name, _, _ = strings.Cut(name, mark)
				}
			}
			frames = append(frames, name)
		}
		out[strings.TrimSpace(m[1])+";"+strings.Join(frames, ";")]++
	}
	return out
}

func fileOf(t *testing.T, path string) (*recording.Recording, reader.Told) {
	t.Helper()
	in, err := reader.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, f := range Formats {
		if f.Sniff(in.Head()) {
			s := &sink{}
			told, err := f.Read(context.Background(), in, reader.Options{Zone: time.Local, Modified: time.Now()}, s)
			if err != nil {
				t.Fatal(err)
			}
			return &s.Recording, told
		}
	}
	t.Fatalf("%s is of no known format", path)
	return nil, reader.Told{}
}

func sum(of map[string]uint64) (n uint64) {
	for _, v := range of {
		n += v
	}
	return n
}

func TestWhatPerfRecords(t *testing.T) {
	dir := built(t)
	perfRun(t, dir, "record", "-q", "-F", "997", "-g", "-e", "cpu-clock", "-o", "perf.data", "--", "./my prog")
	text := perfRun(t, dir, "script", "--header", "-F", "+pid", "-i", "perf.data")
	if err := os.WriteFile(filepath.Join(dir, "perf.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := reference(text)
	r, told := fileOf(t, filepath.Join(dir, "perf.txt"))
	if got := folded(r); !maps.Equal(got, want) {
		t.Errorf("the text: %s", differ(got, want))
	}
	all := sum(want)
	if all < 30 {
		t.Fatalf("perf took %d samples", all)
	}
	if c := told.Coverage[0]; strings.Contains(c.Why, "damaged") || told.Lines == 0 || told.Machine.CPUs == 0 {
		t.Errorf("%+v", told)
	}
	by := leaves(r)
	if by["once"] == 0 || by["thrice"] < by["once"] {
		t.Errorf("thrice ran %d samples and once %d", by["thrice"], by["once"])
	}

	direct, told := fileOf(t, filepath.Join(dir, "perf.data"))
	got := leaves(direct)
	if sum(got) != all {
		t.Errorf("perf.data has %d samples, its text %d", sum(got), all)
	}
	for _, name := range []string{"thrice", "once"} {
		if got[name] != by[name] {
			t.Errorf("%s: %d samples in perf.data, %d in the text", name, got[name], by[name])
		}
	}
	if !strings.Contains(told.Coverage[2].Why, "the kernel's") { // it may be hidden from us
		if got, want := kernelFunctions(direct), kernelFunctions(r); !maps.Equal(got, want) {
			t.Errorf("functions of the kernel in perf.data: %s", differ(got, want))
		}
	}
	names := map[string]string{}
	for _, f := range told.Facts {
		names[f.Name] = f.Value
	}
	if host, _ := os.Hostname(); told.Host != host || names["perf.cmdline"] == "" {
		t.Errorf("%v", names)
	}
	for _, row := range direct.OnCPU {
		if row.Comm != "my prog" && row.Comm != "perf-exec" && row.Comm != "perf" || row.Hz < 990 || row.Hz > 1004 {
			t.Fatalf("%+v", row)
		}
	}

	if sorted := perfRun(t, dir, "report", "--stdio", "-q", "--no-children", "-g", "none", "-n", "--sort", "symbol", "-i", "perf.data"); !strings.Contains(sorted, fmt.Sprintf("%d  [.] thrice", by["thrice"])) {
		t.Errorf("perf report does not have %d samples of thrice:\n%.600s", by["thrice"], sorted)
	}
}

func TestFormsOfPerfData(t *testing.T) {
	dir := built(t)
	for name, args := range map[string][]string{
		"packed":    {"-z", "-g"},
		"leaf only": {},
		"two":       {"-g", "-e", "page-faults"},
		"copies":    {"--call-graph", "dwarf,1024"},
		"clock":     {"-g", "-k", "CLOCK_MONOTONIC"},
		"build ids": {"-g", "--buildid-mmap"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name+".data")
			before := time.Now()
			perfRun(t, dir, slices.Concat([]string{"record", "-q", "-F", "499", "-e", "cpu-clock", "-o", file}, args, []string{"--", "./my prog"})...)
			want := strings.Count(perfRun(t, dir, "script", "-F", "time,event", "-i", file), "cpu-clock")
			r, told := fileOf(t, file)
			events := map[string]uint64{}
			for _, row := range r.OnCPU {
				events[row.Event] += row.N
			}
			if events[""] != uint64(want) {
				t.Errorf("%v, and perf script has %d samples of cpu-clock", events, want)
			}
			if leaves(r)["thrice"] == 0 {
				t.Errorf("no sample of thrice: %v %+v", leaves(r), told.Coverage)
			}
			switch name {
			case "two":
				if events["page-faults"] == 0 {
					t.Errorf("%v", events)
				}
			case "copies":
				if strings.Contains(told.Coverage[0].Why, "another machine") {
					t.Errorf("%+v", told.Coverage[0])
				}
			case "clock":
				if at := time.Unix(0, int64(told.First)); at.Before(before.Add(-time.Second)) || at.After(time.Now().Add(time.Second)) || told.Coverage[0].Why != "" {
					t.Errorf("recorded at %v, read as %v: %+v", before, at, told.Coverage[0])
				}
			}
		})
	}
	t.Run("pipe", func(t *testing.T) {
		cmd := exec.Command("perf", "record", "-q", "-F", "499", "-g", "-e", "cpu-clock", "-o", "-", "--", "./my prog")
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "piped")
		if err := os.WriteFile(file, out, 0o600); err != nil {
			t.Fatal(err)
		}
		want := strings.Count(perfRun(t, dir, "script", "-F", "time,event", "-i", file), "cpu-clock")
		r, told := fileOf(t, file)
		if n := sum(leaves(r)); n != uint64(want) || n == 0 {
			t.Errorf("%d samples, perf script has %d: %+v", n, want, told.Coverage)
		}
	})
}

// Copies of stacks are walked as perf itself walks them, of a program without frame
// pointers.
func TestCopiesOfStacksAreWalked(t *testing.T) {
	dir := built(t)
	id := fmt.Sprintf("-Wl,--build-id=0x%016x%08x", time.Now().UnixNano(), os.Getpid()) // perf keeps copies by it
	cmd := exec.Command("gcc", "-O1", "-fomit-frame-pointer", id, "-o", "bare", "p.c")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	perfRun(t, dir, "record", "-q", "-N", "-F", "997", "-e", "cpu-clock:u", "--call-graph", "dwarf", "-o", "perf.data", "--", "./bare")
	own := func(all map[string]uint64) map[string]uint64 { // the program's functions, outermost main
		out := map[string]uint64{}
		for stack, n := range all {
			if to, ok := strings.CutPrefix(stack, "bare;"); ok {
				i := strings.Index(to, ";main")
				if i >= 0 && (strings.HasPrefix(to, "thrice") || strings.HasPrefix(to, "once")) { // a library's own functions have several names
					out[to[:i]] += n
				}
			}
		}
		return out
	}
	want := own(reference(perfRun(t, dir, "script", "--no-inline", "-F", "+pid", "-i", "perf.data")))
	r, told := fileOf(t, filepath.Join(dir, "perf.data"))
	got := own(folded(r))
	if want["thrice;both"] == 0 || !maps.Equal(got, want) {
		t.Errorf("%s\n%+v", differ(got, want), told.Coverage[0])
	}

	// Of programs that are not here nothing is made up.
	if err := os.Rename(filepath.Join(dir, "bare"), filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	r, told = fileOf(t, filepath.Join(dir, "perf.data"))
	if n := sum(own(folded(r))); n != 0 {
		t.Errorf("%d samples have the callers of a program that is not here", n)
	}
	if c := told.Coverage[0]; !strings.Contains(c.Why, "not here with its build id") || !strings.Contains(c.Cure, "perf script --header -F +pid -i perf.data") {
		t.Errorf("%+v", c)
	}
}

// Fields that people leave out or add must not change what is counted.
func TestFieldsOfPerfScript(t *testing.T) {
	dir := built(t)
	perfRun(t, dir, "record", "-q", "-F", "499", "-g", "--sample-cpu", "-e", "cpu-clock", "-o", "perf.data", "--", "./my prog")
	want := reference(perfRun(t, dir, "script", "-F", "+pid", "-i", "perf.data"))
	for _, fields := range []string{
		"comm,tid,cpu,time,event,ip,sym,dso,period", "comm,pid,tid,time,event,ip,sym,dso", "comm,tid,time,ip,sym,dso", "comm,pid,tid,ip,sym", "comm,tid,period,event,ip,sym,dso",
		"comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso,trace",
	} {
		text := perfRun(t, dir, "script", "-F", fields, "-i", "perf.data")
		file := filepath.Join(dir, "fields.txt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, _ := fileOf(t, file)
		got := folded(r)
		if sum(got) != sum(want) {
			t.Errorf("-F %s: %d samples, %d were taken\n%.300s", fields, sum(got), sum(want), text)
		}
		if strings.Contains(fields, "dso") && !maps.Equal(got, want) {
			t.Errorf("-F %s: %s", fields, differ(got, want))
		}
	}
}

// differ tells some of what differs.
func differ(got, want map[string]uint64) string {
	var b strings.Builder
	n := 0
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] && n < 5 {
			n++
			fmt.Fprintf(&b, "\n%d, want %d: %.300s", got[k], want[k], k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if want[k] == 0 && n < 8 {
			n++
			fmt.Fprintf(&b, "\n%d, want none: %.300s", got[k], k)
		}
	}
	return b.String()
}
