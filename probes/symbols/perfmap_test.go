package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"snag/internal/readable"
)

// Lines of real maps: of jcmd Compiler.perfmap (JDK 17), perf-map-agent, Node, Python
// 3.12 (-X perf).
const someMap = `0x00007fb2d4e5b000 0x0000000000000160 StubRoutines (1)
0x00007fb2d4e5b7a0 0x0000000000000340 int Spin.mix(int)
7fb2d4e60000 80 Ljava/util/HashMap;::get
7fb2d4e60100 1c0 LazyCompile:*handle /srv/app.js:12
7fb2d4e60300 b py::handle:/srv/my.app (1)/x.py
7fb2d4e60310 b py::<lambda>:/srv/x.py
short 1
0x1 0x0 empty
zz 10 no
`

func TestPerfMap(t *testing.T) {
	m := &perfMap{}
	half := someMap + "7fb2d4e70000 10 ha"
	m.more(strings.NewReader(half), int64(len(half)))
	check := func(addr uint64, want string) {
		t.Helper()
		if got, ok := m.find(addr); got != want || ok != (want != "") {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
	check(0x7fb2d4e5b000, "StubRoutines (1)")
	check(0x7fb2d4e5b7a0, "Spin.mix")
	check(0x7fb2d4e6007f, "java.util.HashMap.get")
	check(0x7fb2d4e60080, "")
	check(0x7fb2d4e60101, "LazyCompile:*handle /srv/app.js:12")
	check(0x7fb2d4e60305, "py::handle:/srv/my.app (1)/x.py")
	check(0x7fb2d4e60310, "py::<lambda>:/srv/x.py")
	check(0x7fb2d4e70000, "")
	check(0, "")
	// It grows; what was made anew at the same place has the later name.
	whole := half + "lf\n7fb2d4e5b700 100 later one\n" + strings.Repeat("x", 100<<10) + "\n7fb2d4e80000 8 last\n"
	m.more(strings.NewReader(whole), int64(len(whole)))
	check(0x7fb2d4e70000, "half")
	check(0x7fb2d4e5b7a0, "later one")
	check(0x7fb2d4e5b900, "Spin.mix")
	check(0x7fb2d4e80001, "last")
	if r := strings.NewReader(whole + "more"); !m.goesOn(r, int64(len(whole)+4)) {
		t.Error("a map that grew is taken for another")
	}
	if other := strings.Replace(whole, "last", "LAST", 1) + "more"; m.goesOn(strings.NewReader(other), int64(len(other))) {
		t.Error("a map that was written anew is read on")
	}
}

// A map in a /tmp where anybody may write: a pipe, a link out, another user's file
// are not read, and nobody waits for them.
func TestPerfMapsOfOthersAreNotRead(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("other users' files need root")
	}
	r := New("/proc")
	defer r.Close()
	sleep := exec.Command("sleep", "60")
	sleep.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1234, Gid: 1234}}
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sleep.Process.Kill(); _ = sleep.Wait() }()
	pid := sleep.Process.Pid
	path := "/tmp/perf-" + strconv.Itoa(pid) + ".map"
	defer os.Remove(path)
	try := func(what string, want bool, make func() error) {
		t.Helper()
		_ = os.Remove(path)
		if err := make(); err != nil {
			t.Fatal(err)
		}
		p := &Image{pid: pid}
		r.readPerfMap(p)
		if name, ok := p.jit.find(0x1001); ok != want || ok && name != "f" {
			t.Errorf("%s: %q %v", what, name, ok)
		}
	}
	write := func(uid int) func() error {
		return func() error {
			if err := os.WriteFile(path, []byte("1000 10 f\n"), 0o644); err != nil {
				return err
			}
			return os.Chown(path, uid, uid)
		}
	}
	try("its own", true, write(1234))
	try("root's", true, write(0))
	try("another's", false, write(4321))
	try("a pipe", false, func() error { return unix.Mkfifo(path, 0o666) })
	target := filepath.Join(t.TempDir(), "m")
	if err := os.WriteFile(target, []byte("1000 10 f\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	try("a link", false, func() error { return os.Symlink(target, path) })
}

// A runtime in a container writes its map to its own /tmp, named by its own pid.
func TestPerfMapInAContainer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	cmd := exec.Command("unshare", "--pid", "--fork", "--mount", "--kill-child", "sh", "-c", "mount -t tmpfs none /tmp && echo 1000 10 inside >/tmp/perf-1.map && echo ready && exec sleep 60")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	unshare := strconv.Itoa(cmd.Process.Pid)
	b, err := os.ReadFile("/proc/" + unshare + "/task/" + unshare + "/children")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	r := New("/proc")
	defer r.Close()
	p := &Image{pid: pid}
	r.readPerfMap(p)
	if name, ok := p.jit.find(0x1008); !ok || name != "inside" {
		t.Errorf("%q %v", name, ok)
	}
}

func FuzzMaps(f *testing.F) {
	f.Add([]byte(someMaps), uint64(0x7ffc4b9f1000))
	f.Add([]byte(someMap), uint64(0x7fb2d4e5b000))
	f.Add([]byte("1-2 ..x 0 0 0 [[\n"), uint64(1))
	f.Fuzz(func(_ *testing.T, b []byte, at uint64) {
		find(parseMaps(b), at)
		m := &perfMap{}
		m.more(strings.NewReader(string(b)), int64(len(b)))
		m.find(at)
		readable.Name(string(b[:min(len(b), 2048)]))
	})
}
