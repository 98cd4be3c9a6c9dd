package symbols

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"snag/internal/elffile"
)

func command(t *testing.T, args ...string) {
	t.Helper()
	if b, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, b)
	}
}

// moveOut moves a program's symbols into path.debug.
func moveOut(t *testing.T, path string) {
	t.Helper()
	command(t, "objcopy", "--only-keep-debug", path, path+".debug")
	command(t, "strip", path)
	command(t, "objcopy", "--add-gnu-debuglink="+path+".debug", path)
}

func hiddenIn(t *testing.T, path string) string {
	t.Helper()
	pid, addrs, _ := said(t, exec.Command(path))
	r := New("/proc")
	defer r.Close()
	return names(r, pid, addrs)["hidden"]
}

// Without a build id the file that the link names counts by its CRC alone.
func TestDebugLinkWithItsCRC(t *testing.T) {
	path := compile(t, "-g", "-Wl,--build-id=none")
	moveOut(t, path)
	if got := hiddenIn(t, path); got != "hidden" {
		t.Errorf("%s", got)
	}
	f, err := os.OpenFile(path+".debug", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("another"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if got := hiddenIn(t, path); !strings.HasPrefix(got, "relay+0x") {
		t.Errorf("named %s by a file with another CRC", got)
	}
}

// By the build id, in the root of a process that has a /usr/lib/debug of its own.
func TestDebugFileByBuildID(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a mount namespace needs root")
	}
	path := compile(t, "-g", "-Wl,--build-id")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e, err := elffile.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	id := e.BuildID()
	command(t, "objcopy", "--only-keep-debug", path, path+".symbols")
	command(t, "strip", path)
	script := fmt.Sprintf("mkdir -p /usr/lib/debug; mount -t tmpfs none /usr/lib/debug && mkdir -p /usr/lib/debug/.build-id/%s && cp %s.symbols /usr/lib/debug/.build-id/%s/%s.debug && exec %s", id[:2], path, id[:2], id[2:], path)
	pid, addrs, _ := said(t, exec.Command("unshare", "-m", "sh", "-c", script))
	r := New("/proc")
	defer r.Close()
	if got := names(r, pid, addrs); got["hidden"] != "hidden" {
		t.Errorf("%v", got)
	}
}

// A stripped program that carries its symbols along, packed, as Fedora's do: those that
// .dynsym has not.
func TestMiniDebugInfo(t *testing.T) {
	path := compile(t, "-g", "-rdynamic")
	dir := filepath.Dir(path)
	command(t, "objcopy", "-S", "--remove-section=.comment", "--keep-symbol=_ZL6hiddeni", path, filepath.Join(dir, "mini"))
	command(t, "xz", filepath.Join(dir, "mini"))
	command(t, "strip", path)
	command(t, "objcopy", "--add-section", ".gnu_debugdata="+filepath.Join(dir, "mini.xz"), path)
	pid, addrs, _ := said(t, exec.Command(path))
	r := New("/proc")
	defer r.Close()
	if got := names(r, pid, addrs); got["hidden"] != "hidden" || got["shown"] != "shown" {
		t.Errorf("%v", got)
	}
	small := NewBounded("/proc", 100) // no room to unpack it
	defer small.Close()
	if got := names(small, pid, addrs); got["hidden"] == "hidden" {
		t.Errorf("%v", got)
	}
}

// A package is upgraded while its program runs: at its path lies another one, with the
// symbols of that one beside it.
func TestUpgradeWhileItRuns(t *testing.T) {
	path := compile(t, "-g", "-Wl,--build-id")
	next := compile(t, "-g", "-Wl,--build-id", "-O0")
	moveOut(t, next)
	command(t, "strip", path)
	command(t, "objcopy", "--add-gnu-debuglink="+next+".debug", path) // the name is the same
	pid, addrs, _ := said(t, exec.Command(path))
	for _, ending := range []string{"", ".debug"} {
		if err := os.Rename(next+ending, path+ending); err != nil {
			t.Fatal(err)
		}
	}
	r := New("/proc")
	defer r.Close()
	f := r.User(pid, []uint64{addrs["hidden"] + 1})[0]
	if f.Named || f.BuildID == "" || !strings.HasPrefix(f.Function, "relay+0x") {
		t.Errorf("%+v", f)
	}
}
