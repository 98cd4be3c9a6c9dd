package oncpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const rust = `
mod relay {
    use std::hint::black_box;
    pub struct Lock { sum: u64 }
    pub trait Spins { fn spin(&mut self); }
    impl Spins for Lock { #[inline(never)] fn spin(&mut self) { for i in 0..1000u64 { self.sum = black_box(self.sum + i); } } }
    #[inline(never)] fn forward<T: Spins>(l: &mut T) { for _ in 0..1000 { l.spin(); } black_box(l); }
    #[inline(never)] fn packet<T: Spins>(l: &mut T) { forward(l); black_box(l); }
    #[inline(never)] fn frame(l: &mut Lock) { packet(l); black_box(l); }
    #[inline(never)] fn stream(l: &mut Lock) { frame(l); black_box(l); }
    #[inline(never)] fn session(l: &mut Lock) { stream(l); black_box(l); }
    #[inline(never)] pub fn serve() { let mut l = Lock { sum: 0 }; loop { session(&mut l); } }
}
fn main() { relay::serve(); }
`

// Rust's names in the old mangling, which ends in a hash, and in its own (v0, RFC 2603).
func TestRust(t *testing.T) {
	if _, err := exec.LookPath("rustc"); err != nil {
		t.Fatalf("no Rust compiler: %v: make setup", err)
	}
	t.Setenv("RUSTC_BOOTSTRAP", "1") // the old one is an unstable option since v0 is the default
	for _, mangling := range []string{"legacy", "v0"} {
		t.Run(mangling, func(t *testing.T) {
			path := compile(t, "p.rs", rust, "rustc", "-Copt-level=2", "-Cforce-frame-pointers=yes", "-Csymbol-mangling-version="+mangling, "-Zunstable-options", "--crate-name=spinner")
			pid := run(t, exec.Command(path))
			r := sampleAll(t, true, []int{pid}, func() { burn(t, 400*time.Millisecond, pid) })
			o := samplesOf(r, pid)
			var in []string
			for name, n := range o.in {
				if 10*n >= 8*o.samples && strings.Contains(name, "relay::") {
					in = append(in, name)
				}
				if strings.Contains(name, "relay::") && (strings.HasPrefix(name, "_") || strings.Contains(name, "17h")) {
					t.Errorf("not demangled: %s", name)
				}
			}
			o.want(t, "spinner::relay::serve", "spinner::relay::session", "spinner::relay::frame", "spinner::main")
			if len(in) < 6 {
				t.Errorf("of seven functions: %v", in)
			}
		})
	}
}

const javascript = `
let sum = 0;
function mix(n) { let s = 0; for (let i = 0; i < 1e6; i++) s += i ^ n; return s; }
function forward(n) { sum += mix(n); return sum; }
function session() { for (let i = 0; i < 50; i++) forward(i); }
function serve() { session(); setImmediate(serve); }
console.log("ready");
serve();
`

// Node says itself what it compiled, and its code keeps frame pointers.
func TestNodeWithItsMap(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("no Node: %v: make setup", err)
	}
	source := filepath.Join(t.TempDir(), "spin.js")
	if err := os.WriteFile(source, []byte(javascript), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "--perf-basic-prof", "--interpreted-frames-native-stack", "--max-inlined-bytecode-size=0", source)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	pid := run(t, cmd)
	defer os.Remove("/tmp/perf-" + strconv.Itoa(pid) + ".map")
	if _, err := out.Read(make([]byte, 100)); err != nil { // it says when it is ready
		t.Fatal(err)
	}
	burn(t, 600*time.Millisecond, pid) // its functions are compiled meanwhile, however much else runs here
	r := sampleAll(t, true, []int{pid}, func() { burn(t, 400*time.Millisecond, pid) })
	o := samplesOf(r, pid)
	o.want(t)
	for _, f := range []string{"mix", "forward", "session"} {
		n := uint64(0)
		for name, samples := range o.in {
			if strings.HasPrefix(name, "JS:") && strings.Contains(name, f) {
				n += samples
			}
		}
		if 10*n < 8*o.samples {
			t.Errorf("%s is in %d of %d samples: %v", f, n, o.samples, o.in)
		}
	}
}

const python = `
import sys
def mix(n):
    s = 0
    for i in range(n): s += i ^ n
    return s
def session(): return mix(20000)
def serve():
    while True: session()
print("ready", flush=True)
serve()
`

// pythonWithMaps is a Python that can write of its functions (3.12 and later); "" where
// none is installed.
func pythonWithMaps() string {
	for _, name := range []string{"python3", "python3.14", "python3.13", "python3.12"} {
		if path, err := exec.LookPath(name); err == nil && exec.Command(path, "-X", "perf", "-c", "import sys; sys.exit(sys.version_info < (3, 12) or not sys.is_stack_trampoline_active())").Run() == nil {
			return path
		}
	}
	home, _ := os.UserHomeDir()
	all, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.1[2-9]*/bin/python3"))
	for _, path := range all {
		if exec.Command(path, "-X", "perf", "-c", "import sys; sys.exit(not sys.is_stack_trampoline_active())").Run() == nil {
			return path
		}
	}
	return ""
}

// Python gives each of its functions a piece of code of its own, and tells their names.
func TestPythonWithItsMap(t *testing.T) {
	path := pythonWithMaps()
	if path == "" {
		t.Skip("Python 3.12 is not installed: Debian 12 has 3.11, which can't tell its functions")
	}
	source := filepath.Join(t.TempDir(), "spin.py")
	if err := os.WriteFile(source, []byte(python), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-X", "perf", source)
	pid := run(t, cmd)
	t.Cleanup(func() { _ = os.Remove("/tmp/perf-" + strconv.Itoa(pid) + ".map") })
	burn(t, 300*time.Millisecond, pid) // until it serves
	r := byInformation(t, pid)
	o := samplesOf(r, pid)
	for _, name := range []string{"py::mix:" + source, "py::session:" + source, "py::serve:" + source} {
		if 10*o.in[name] < 5*o.samples || o.samples < 10 {
			t.Errorf("%s is in %d of %d samples: %v", name, o.in[name], o.samples, o.in)
		}
	}
}
