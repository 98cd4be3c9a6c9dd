package inlined

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const program = `
volatile unsigned long sum;
namespace relay {
static inline __attribute__((always_inline)) void mix(long n) { for (long i = 0; i < n; i++) sum += i; }
static inline __attribute__((always_inline)) void forward(long n) { mix(n); sum++; }
__attribute__((noinline)) void session(long n) { forward(n); sum++; }
}
int main(int argc, char **) { relay::session(argc); return 0; }
`

// built compiles a program, of which gcc and addr2line (binutils) know what is inlined.
func built(t testing.TB, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.cc"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "p")
	if said, err := exec.Command("g++", append(flags, "-O1", "-o", out, filepath.Join(dir, "p.cc"))...).CombinedOutput(); err != nil {
		t.Fatalf("g++: %v\n%s", err, said)
	}
	return out
}

func opened(t testing.TB, path string) *Table {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	table, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// textOf is where the code of a function lies.
func textOf(t testing.TB, path, part string) (low, high uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if strings.Contains(s.Name, part) && s.Size > 0 {
			return s.Value, s.Value + s.Size
		}
	}
	t.Fatalf("no function %s", part)
	return 0, 0
}

// Of each byte of a function the same functions are inlined as addr2line -i has.
func TestAsAddr2line(t *testing.T) {
	for _, flags := range [][]string{{"-g"}, {"-g", "-gdwarf-4"}, {"-g", "-gz=zlib"}} {
		path := built(t, flags...)
		table := opened(t, path)
		low, high := textOf(t, path, "session")
		args := []string{"-C", "-f", "-i", "-a", "-e", path}
		for a := low; a < high; a++ {
			args = append(args, hex(a))
		}
		said, err := exec.Command("addr2line", args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{}
		at := ""
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		for i := 0; i < len(lines); i++ {
			if strings.HasPrefix(lines[i], "0x") {
				at = "0x" + strings.TrimLeft(lines[i][2:], "0")
				continue
			}
			want[at] = append(want[at], lines[i])
			i++ // the file and the line
		}
		deepest := 0
		for a := low; a < high; a++ {
			// It has the functions outside of the innermost by the names that they are given
			// here; of the innermost it tells the symbol.
			got, w := table.At(a), want[hex(a)]
			if len(got) != len(w)-1 || len(got) > 1 && got[1] != w[1] {
				t.Errorf("%v at %#x: %q; addr2line has %q", flags, a, got, w)
			}
			if len(got) > 0 && got[len(got)-1] != "forward" || len(got) > 1 && got[0] != "mix" {
				t.Errorf("%v at %#x: %q", flags, a, got)
			}
			deepest = max(deepest, len(got))
		}
		if deepest != 2 {
			t.Errorf("%v: %d functions deep, want 2", flags, deepest)
		}
	}
}

func hex(a uint64) string {
	const digits = "0123456789abcdef"
	out := []byte{}
	for ; a > 0; a >>= 4 {
		out = append([]byte{digits[a&15]}, out...)
	}
	return "0x" + string(out)
}

// Go's own program: this test.
func TestGo(t *testing.T) {
	dir := t.TempDir()
	source := "package main\n\nvar sum int\n\nfunc mix(n int) { sum += n }\n\n//go:noinline\nfunc session(n int) { mix(n); mix(n + 1) }\n\nfunc main() { session(3) }\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", "p", "main.go")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GO111MODULE=off", "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	path := filepath.Join(dir, "p")
	low, high := textOf(t, path, "main.session")
	table := opened(t, path)
	found := false
	for a := low; a < high; a++ {
		if names := table.At(a); len(names) > 0 {
			found = names[0] == "main.mix" && len(names) == 1
		}
	}
	if !found {
		t.Error("main.mix is not found inside of main.session")
	}
}

func TestWithoutDebuggingInformation(t *testing.T) {
	f, err := os.Open(built(t, "-s"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Open(f); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
}

func FuzzOpen(f *testing.F) {
	path := built(f, "-g")
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	low, high := textOf(f, path, "session")
	file, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		f.Fatal(err)
	}
	info := file.Section(".debug_info")
	f.Add(uint32(0), byte(0))
	f.Add(uint32(40), byte(0xff))
	f.Fuzz(func(t *testing.T, at uint32, v byte) {
		bad := bytes.Clone(b)
		bad[info.Offset+uint64(at)%info.FileSize] ^= v
		table, err := Open(bytes.NewReader(bad))
		if err != nil {
			return
		}
		for a := low; a < high; a++ {
			_ = table.At(a)
		}
	})
}
