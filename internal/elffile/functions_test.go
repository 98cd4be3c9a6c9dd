package elffile

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func open(tb testing.TB, path string) *File {
	tb.Helper()
	r, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.Close() })
	f, err := Open(r)
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return f
}

func run(tb testing.TB, name string, args ...string) string {
	tb.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		tb.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

const program = `
#include <stdio.h>
__attribute__((noinline)) static int inner(int n) { return n * 3; }
__attribute__((noinline)) int outer(int n) { return inner(n) + 1; }
int main(int c, char **v) { printf("%d\n", outer(c)); return 0; }
`

func compile(tb testing.TB, flags ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	source := filepath.Join(dir, "p.c")
	if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
		tb.Fatal(err)
	}
	out := filepath.Join(dir, "p")
	run(tb, "gcc", append([]string{"-O1", "-o", out, source}, flags...)...)
	return out
}

// symbols are the functions as nm(1) shows them.
func symbols(tb testing.TB, path string) map[string]uint64 {
	out := map[string]uint64{}
	lines := bufio.NewScanner(strings.NewReader(run(tb, "nm", path)))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) == 3 && strings.EqualFold(f[1], "t") {
			at, _ := strconv.ParseUint(f[0], 16, 64)
			out[f[2]] = at
		}
	}
	return out
}

func TestFunctionsAreWhatNMSays(t *testing.T) {
	for _, flags := range [][]string{{"-pie"}, {"-no-pie"}, {"-static"}} {
		path := compile(t, flags...)
		f, want := open(t, path), symbols(t, path)
		table := f.Functions()
		for _, name := range []string{"main", "outer", "inner"} {
			got, start, ok := table.Find(want[name] + 1)
			if !ok || got != name || start != want[name] {
				t.Errorf("%v: at %#x is %q from %#x, want %s", flags, want[name]+1, got, start, name)
			}
		}
		if _, _, ok := table.Find(want["main"] + 1<<40); ok {
			t.Errorf("%v: an address far off has a name", flags)
		}
	}
}

// A stripped program has no names but knows where its functions begin.
func TestStrippedProgramKnowsItsFunctionsStarts(t *testing.T) {
	path := compile(t)
	want := symbols(t, path)
	run(t, "strip", path)
	f := open(t, path)
	if name, _, ok := f.Functions().Find(want["outer"]); ok {
		t.Errorf("a stripped function is called %s", name)
	}
	for _, name := range []string{"main", "outer", "inner"} {
		if got, ok := f.FunctionStart(want[name] + 2); !ok || got != want[name] {
			t.Errorf("%s begins at %#x: %#x %v", name, want[name], got, ok)
		}
	}
}

func TestSymbolsThatWereMovedOut(t *testing.T) {
	path := compile(t, "-g", "-Wl,--build-id")
	want := symbols(t, path)
	run(t, "objcopy", "--only-keep-debug", path, path+".debug")
	run(t, "strip", path)
	run(t, "objcopy", "--add-gnu-debuglink="+path+".debug", path)
	f, debug := open(t, path), open(t, path+".debug")
	if name, crc, ok := f.DebugLink(); !ok || name != "p.debug" || crc == 0 {
		t.Errorf("debug link %q %x %v", name, crc, ok)
	}
	if f.BuildID() == "" || f.BuildID() != debug.BuildID() {
		t.Errorf("build ids %q and %q", f.BuildID(), debug.BuildID())
	}
	if name, _, _ := debug.Functions().Find(want["outer"]); name != "outer" {
		t.Errorf("outer is called %q in the file of symbols", name)
	}
}

// Go's own table gives the names that the symbols give.
func TestGoProgramsWithoutSymbols(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() { println(len(outer(3))) }\n\n//go:noinline\nfunc outer(n int) []int { return make([]int, n) }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"exe", "pie"} {
		plain, bare := filepath.Join(dir, "plain"), filepath.Join(dir, "bare")
		run(t, "go", "build", "-buildmode="+mode, "-o", plain, source)
		run(t, "go", "build", "-buildmode="+mode, "-ldflags=-s -w", "-o", bare, source)
		want := open(t, plain).Functions()
		got := open(t, bare)
		if got.HasSymbols() {
			t.Fatal("the bare program has symbols: it shows nothing")
		}
		have := got.goFunctions()
		all, same := 0, 0
		// Both are linked alike but for what was left out, so that only names are compared.
		names := map[string]bool{}
		for _, f := range want.all {
			names[strings.TrimSuffix(want.name(f.name), ".abi0")] = true // assembly has it in the symbols alone
		}
		for _, f := range have.all {
			all++
			if names[have.name(f.name)] {
				same++
			}
		}
		if all < 1000 || float64(same) < 0.99*float64(all) {
			t.Errorf("%s: of %d names %d are those of the symbols", mode, all, same)
		}
	}
}

// One program's own table and symbols agree on every function, start and name.
func TestGoTableAgreesWithTheSymbols(t *testing.T) {
	f := open(t, goProgram(t))
	own := f.goFunctions()
	if own.Len() < 10000 {
		t.Fatalf("%d functions", own.Len())
	}
	s, ok := f.section(".symtab")
	if !ok {
		t.Skip("this Go was built without symbols: nothing to compare with")
	}
	table := f.symbols(s)
	wrong := 0
	for _, one := range own.all {
		name, start, ok := table.Find(own.base + uint64(one.start))
		// Assembly has the suffix of its ABI in the symbols alone.
		if !ok || start != own.base+uint64(one.start) || strings.TrimSuffix(name, ".abi0") != strings.TrimSuffix(own.name(one.name), ".abi0") {
			wrong++
			if wrong < 5 {
				t.Logf("%q from %#x: %q", name, start, own.name(one.name))
			}
		}
	}
	if wrong > own.Len()/100 {
		t.Errorf("%d of %d differ", wrong, own.Len())
	}
}

// goProgram is a large Go program: go itself.
func goProgram(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("go")
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestWhatIsNoProgram(t *testing.T) {
	for _, raw := range [][]byte{nil, []byte("#!/bin/sh\n"), bytes.Repeat([]byte{0x7f, 'E', 'L', 'F', 2, 1}, 30), bytes.Repeat([]byte{0xff}, 200)} {
		if _, err := Open(bytes.NewReader(raw)); err == nil {
			t.Errorf("%.20q is a program", raw)
		}
	}
}

func FuzzFile(f *testing.F) {
	h := elf.Header64{Phoff: 64, Phentsize: 56, Phnum: 2, Shoff: 176, Shentsize: 64, Shnum: 3, Shstrndx: 2}
	copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, h) // to memory: it can't fail
	_ = binary.Write(&b, binary.LittleEndian, []elf.Prog64{{Type: 1, Filesz: 400, Memsz: 400}, {Type: 0x6474e550, Off: 368, Filesz: 40}})
	_ = binary.Write(&b, binary.LittleEndian, []elf.Section64{{}, {Type: 2, Off: 400, Size: 48, Entsize: 24, Link: 2}, {Type: 3, Off: 460, Size: 40}})
	b.Write(make([]byte, 200))
	f.Add(b.Bytes(), uint64(100))
	f.Fuzz(func(_ *testing.T, raw []byte, at uint64) {
		file, err := Open(bytes.NewReader(raw))
		if err != nil {
			return
		}
		file.BuildID()
		file.Probes()
		file.DebugLink()
		file.FunctionStart(at)
		file.FrameRow(at)
		if c, err := parseCIE(raw); err == nil {
			_, _ = c.run(raw, at, at+9)
		}
		address, _ := file.Address(at)
		file.Functions().Find(address)
		for _, s := range file.sections { // whatever they are called
			file.symbols(s.Section64).Find(at)
		}
		if len(file.sections) > 1 { // as if it were a Go program
			file.sections[1].name, file.sections[0].name = ".gopclntab", ".text"
			file.goFunctions().Find(at)
		}
	})
}

func BenchmarkFunctions(b *testing.B) {
	f := open(b, goProgram(b))
	b.ReportAllocs()
	for b.Loop() {
		if f.Functions().Len() == 0 {
			b.Fatal("none")
		}
	}
}
