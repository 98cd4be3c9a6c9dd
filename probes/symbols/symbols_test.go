package symbols

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

const someMaps = `55d0c0a00000-55d0c0a28000 r--p 00000000 fe:00 131093                     /usr/bin/python3.11
55d0c0a28000-55d0c0cf5000 r-xp 00028000 fe:00 131093                     /usr/bin/python3.11
7f1a2c000000-7f1a2c021000 rwxp 00000000 00:00 0
7f1a30400000-7f1a30401000 r-xp 00001000 fe:00 77                         /opt/my codec/libx264.so.164 (deleted)
7ffc4b9f1000-7ffc4b9f3000 r-xp 00000000 00:00 0                          [vdso]
`

func TestParseMaps(t *testing.T) {
	got := parseMaps([]byte(someMaps))
	want := []mapping{
		{fileID{"fe:00", 131093}, 0x55d0c0a28000, 0x55d0c0cf5000, 0x28000, "/usr/bin/python3.11", false},
		{fileID{"00:00", 0}, 0x7f1a2c000000, 0x7f1a2c021000, 0, "", false},
		{fileID{"fe:00", 77}, 0x7f1a30400000, 0x7f1a30401000, 0x1000, "/opt/my codec/libx264.so.164", true},
		{fileID{"00:00", 0}, 0x7ffc4b9f1000, 0x7ffc4b9f3000, 0, "[vdso]", false},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	for addr, path := range map[uint64]string{0x55d0c0a28000: "/usr/bin/python3.11", 0x55d0c0cf4fff: "/usr/bin/python3.11", 0x7ffc4b9f2000: "[vdso]"} {
		if m, ok := find(got, addr); !ok || m.path != path {
			t.Errorf("%#x is in %q", addr, m.path)
		}
	}
	for _, addr := range []uint64{0, 0x55d0c0cf5000, 0x55d0c0a27fff, ^uint64(0)} {
		if m, ok := find(got, addr); ok {
			t.Errorf("%#x is in %q", addr, m.path)
		}
	}
}

func pc(f any) uint64 { return uint64(reflect.ValueOf(f).Pointer()) }

// This very program: a Go program, stripped as go test links it.
func TestOwnGoFunctions(t *testing.T) {
	r := New("/proc")
	defer r.Close()
	addrs := []uint64{pc(TestOwnGoFunctions) + 1, pc(bytes.Repeat) + 9, pc(strings.Map) + 9}
	for i, f := range r.User(os.Getpid(), addrs) {
		want := runtime.FuncForPC(uintptr(addrs[i])).Name()
		if f.Function != want || !f.Named || !strings.HasSuffix(f.Object, ".test") {
			t.Errorf("%+v, want %s", f, want)
		}
	}
	if c := r.Counts(); c.Frames != 3 || c.Named != 3 {
		t.Errorf("%+v", c)
	}
}

func TestKernelFrames(t *testing.T) {
	r := New("/proc")
	if err := r.KernelErr(); err != nil {
		if os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	b, err := os.ReadFile("/proc/kallsyms")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(b), "\n") {
		if at, ok := strings.CutSuffix(line, " T vfs_read"); ok {
			addr, err := strconv.ParseUint(at, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			if f := r.Kernel([]uint64{addr + 4, addr + 8, 8}); f[0].Function != "vfs_read" || f[1].Function != "vfs_read" || f[2].Named {
				t.Errorf("%+v", f)
			}
			return
		}
	}
	t.Error("no vfs_read in kallsyms")
}

func TestVDSO(t *testing.T) {
	maps, err := readMaps("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	o := ownVDSO()
	if o.functions.Len() == 0 {
		t.Fatal("the vdso has no functions")
	}
	r := New("/proc")
	defer r.Close()
	for _, m := range maps {
		if m.path != "[vdso]" {
			continue
		}
		var names []string
		for at := m.start; at < m.end; at += 16 {
			if f := r.User(os.Getpid(), []uint64{at})[0]; f.Named && f.Object == "[vdso]" {
				names = append(names, f.Function)
			}
		}
		if !slices.Contains(names, "__vdso_clock_gettime") && !slices.Contains(names, "clock_gettime") && !slices.Contains(names, "__kernel_clock_gettime") {
			t.Errorf("no clock_gettime among %v", slices.Compact(names))
		}
	}
}

// said starts a program that prints addresses of its functions, "name 0x…" a line
// and "ready" at last, and waits.
func said(t *testing.T, cmd *exec.Cmd) (pid int, addrs map[string]uint64, end func()) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			in.Close() // it ends at the end of its input
			_ = cmd.Wait()
		}
	}
	t.Cleanup(end)
	addrs = map[string]uint64{}
	for {
		var name string
		var at uint64
		if _, err := fmt.Fscanf(out, "%s 0x%x\n", &name, &at); err != nil || name == "ready" {
			return cmd.Process.Pid, addrs, end
		}
		addrs[name] = at
	}
}

const program = `
#include <stdio.h>
#include <math.h>
#include <string>
namespace media { struct Relay { template <class T> __attribute__((noinline)) int push(T n) { return n * 3; } }; }
__attribute__((noinline)) static int hidden(int n) { return n * 5; }
extern "C" __attribute__((noinline)) int shown(int n) { return hidden(n) + 1; }
int main() {
  int (media::Relay::*p)(int) = &media::Relay::push<int>;
  printf("push 0x%lx\nhidden 0x%lx\nshown 0x%lx\nfloor 0x%lx\nready 0x0\n", (unsigned long)(void *&)p, (unsigned long)hidden, (unsigned long)shown, (unsigned long)(double (*)(double))floor);
  fflush(stdout);
  while (getchar() != EOF) {}
  return shown(1);
}
`

func compile(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	source, out := filepath.Join(dir, "p.cc"), filepath.Join(dir, "relay")
	if err := os.WriteFile(source, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := exec.Command("g++", append([]string{"-O1", "-o", out, source}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return out
}

func names(r *Resolver, pid int, addrs map[string]uint64) map[string]string {
	out := map[string]string{}
	for name, at := range addrs {
		f := r.User(pid, []uint64{at + 1})[0]
		out[name] = f.Function
		if f.Named != !strings.Contains(f.Function, "+0x") {
			out[name] += fmt.Sprintf(" named %v", f.Named)
		}
	}
	return out
}

func TestProgramInCpp(t *testing.T) {
	path := compile(t)
	pid, addrs, end := said(t, exec.Command(path))
	r := New("/proc")
	defer r.Close()
	check := func(when string) {
		t.Helper()
		got := names(r, pid, addrs)
		if !strings.HasPrefix(got["push"], "int media::Relay::push<int>") && got["push"] != "media::Relay::push<int>" || got["hidden"] != "hidden" || got["shown"] != "shown" || !strings.Contains(got["floor"], "floor") {
			t.Errorf("%s: %v", when, got)
		}
	}
	check("it runs")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r = New("/proc") // that has not opened it while it had a name
	defer r.Close()
	check("deleted")
	end()
	later := time.Now().Add(time.Minute)
	r.now = func() time.Time { return later }
	check("ended")
}

func TestStrippedProgram(t *testing.T) {
	path := compile(t, "-s")
	pid, addrs, _ := said(t, exec.Command(path))
	r := New("/proc")
	defer r.Close()
	f := r.User(pid, []uint64{addrs["shown"] + 3, addrs["shown"] + 9, addrs["hidden"] + 1})
	if f[0].Named || !strings.HasPrefix(f[0].Function, "relay+0x") || f[0].Function != f[1].Function || f[0].Function == f[2].Function {
		t.Errorf("%+v", f)
	}
	if f[0].BuildID == "" {
		t.Error("no build id")
	}
	if c := r.Counts(); c.Stripped != 3 {
		t.Errorf("%+v", c)
	}
}

// A process of another mount namespace, whose path leads to another file outside.
func TestProgramInAnotherMountNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a mount namespace needs root")
	}
	path := compile(t)
	dir := t.TempDir()
	script := fmt.Sprintf("mount -t tmpfs none %[1]s && cp %[2]s %[1]s/relay && exec %[1]s/relay", dir, path)
	pid, addrs, _ := said(t, exec.Command("unshare", "-m", "sh", "-c", script))
	r := New("/proc")
	defer r.Close()
	if got := names(r, pid, addrs); got["shown"] != "shown" || got["hidden"] != "hidden" {
		t.Errorf("%v", got)
	}
	// Without map_files, by its path in its own root.
	maps, err := readMaps(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	m, ok := find(maps, addrs["shown"])
	if !ok {
		t.Fatal("not mapped")
	}
	m.start++ // no such link
	if file := openMapped("/proc", pid, m); file == nil {
		t.Error("not opened by its path")
	} else {
		file.Close()
	}
}

func TestSymbolsThatWereMovedOut(t *testing.T) {
	path := compile(t, "-g")
	for _, args := range [][]string{{"objcopy", "--only-keep-debug", path, path + ".debug"}, {"strip", path}, {"objcopy", "--add-gnu-debuglink=" + path + ".debug", path}} {
		if b, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, b)
		}
	}
	pid, addrs, _ := said(t, exec.Command(path))
	r := New("/proc")
	defer r.Close()
	if got := names(r, pid, addrs); got["hidden"] != "hidden" {
		t.Errorf("%v", got)
	}
}

// A pid that another process has now is not named after the one before, and a
// process that had ended before anyone looked has no names.
func TestPIDOfAnotherProcess(t *testing.T) {
	proc := t.TempDir()
	put := func(start int, object string) {
		dir := filepath.Join(proc, "77")
		_ = os.MkdirAll(dir, 0o755)
		for name, text := range map[string]string{
			"stat": fmt.Sprintf("77 (a b) c) S%s %d 0 0", strings.Repeat(" 1", 18), start),
			"maps": "1000-2000 r-xp 00000000 00:00 0 [" + object + "]\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := New(proc)
	now := time.Now()
	r.now = func() time.Time { return now }
	put(5, "first")
	object := func() string { return r.User(77, []uint64{0x1800})[0].Object }
	if got := object(); got != "[first]" {
		t.Fatal(got)
	}
	put(9, "second")
	now = now.Add(2 * time.Second)
	if got := object(); got != "[second]" {
		t.Error(got)
	}
	if err := os.RemoveAll(filepath.Join(proc, "77")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Second)
	if got := object(); got != "[second]" {
		t.Errorf("ended: %s", got)
	}
	if f := r.User(78, []uint64{5})[0]; f.Named || f.Function != "[unknown]+0x5" || r.Counts().Ended != 1 {
		t.Errorf("never seen: %+v %+v", f, r.Counts())
	}
}

func TestStack(t *testing.T) {
	r := New("/proc")
	defer r.Close()
	at := pc(TestStack)
	s := r.Stack(os.Getpid(), nil, []uint64{at + 1, at + 2})
	if len(s.Frames) != 2 || s.Kernel != 0 || len(s.Objects) != 2 || s.Cut != CutNoFramePointers || s.Frames[0] != s.Frames[1] {
		t.Errorf("%+v", s)
	}
	s = r.Stack(os.Getpid(), []uint64{1}, []uint64{at + 1})
	if s.Kernel != 1 || len(s.Objects) != 2 || s.Objects[0] != "" {
		t.Errorf("%+v", s)
	}
	if s = r.Stack(os.Getpid(), []uint64{1}, nil); s.Kernel != -1 || s.Objects != nil || s.Cut != "" {
		t.Errorf("%+v", s)
	}
	if s = r.Stack(os.Getpid(), nil, nil); !reflect.DeepEqual(s, recording.Stack{}) {
		t.Errorf("%+v", s)
	}
}

func TestCut(t *testing.T) {
	of := func(last string, object string, n int) []Frame {
		out := make([]Frame, n)
		out[n-1] = Frame{Function: last, Object: object, Named: !strings.Contains(last, "+0x")}
		return out
	}
	for _, c := range []struct {
		user []Frame
		want string
	}{
		{nil, ""},
		{of("main", "/bin/x", 1), CutNoFramePointers},
		{of("main", "/bin/x", 5), CutNoFramePointers},
		{of("_start", "/bin/x", 5), ""},
		{of("__libc_start_main@@GLIBC_2.34", "/lib/libc.so.6", 2), ""},
		{of("runtime.goexit", "/bin/x", 3), ""},
		{of("runtime.goexit.abi0", "/bin/x", 3), ""},
		{of("_rt0_amd64_linux", "/bin/x", 3), ""},
		{of("libc.so.6+0x891c4", "/usr/lib/libc.so.6", 4), ""},
		{of("libc.so.6+0x891c4", "/usr/lib/libc.so.6", 1), CutNoFramePointers},
		{of("qsort", "/usr/lib/libc.so.6", 4), CutNoFramePointers},
		{of("start", "/bin/x", MostFrames), CutTooDeep},
		{append(of("call_stub", "[jit]", 3), Frame{Function: "libjvm.so+0x1", Object: "/usr/lib/jvm/libjvm.so"}), ""},
	} {
		if got := CutOf(c.user); got != c.want {
			t.Errorf("%+v: %q", c.user, got)
		}
	}
}

// A frame whose name is known, and one of a new address.
func BenchmarkUser(b *testing.B) {
	r := New("/proc")
	defer r.Close()
	at := pc(TestStack)
	b.Run("known", func(b *testing.B) {
		for b.Loop() {
			r.User(os.Getpid(), []uint64{at})
		}
	})
	b.Run("new", func(b *testing.B) {
		first, n := pc(bytes.Repeat), uint64(0)
		for b.Loop() {
			n++
			r.User(os.Getpid(), []uint64{first + n%200000})
		}
	})
}
