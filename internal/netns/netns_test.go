package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestListNamesNamespacesAfterTheirOldestProcess(t *testing.T) {
	proc := tree(t, map[string]string{
		"1/ns/net":   "-> net:[4026531840]",
		"812/ns/net": "-> net:[4026532001]",
		"812/comm":   "nginx\n",
		"90/ns/net":  "-> net:[4026532001]",
		"90/comm":    "sh\n",
		"77/ns/net":  "-> garbage",
		"uptime":     "1 2",
	})
	found, err := List(proc, []string{filepath.Join(proc, "nowhere")}, 4026531840)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(found.All[0].Own, found.All[0].Name == "", found.All[0].PID, found.All[1].Name, found.All[1].ID, len(found.All))
	if want := "true true 1 of sh[90] 4026532001 2\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestListWithoutProcfsSaysSo(t *testing.T) {
	if _, err := List(filepath.Join(t.TempDir(), "absent"), nil, 1); err == nil || !strings.Contains(err.Error(), "network namespaces") {
		t.Errorf("error = %v", err)
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("net:[4026531840]")
	f.Add("net:[")
	f.Add("mnt:[1]")
	f.Fuzz(func(t *testing.T, s string) {
		if id, ok := parseID(s); ok && !strings.Contains(s, fmt.Sprint(id)) && !strings.Contains(s, "0") {
			t.Errorf("%q gave %d", s, id)
		}
	})
}

// addNamespace makes a named namespace that the test removes.
func addNamespace(t *testing.T, name string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root to make a network namespace")
	}
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		t.Fatalf("ip netns add %s: %v: %s", name, err, out)
	}
	t.Cleanup(func() { exec.Command("ip", "netns", "del", name).Run() })
}

func ownID(t *testing.T) uint64 {
	t.Helper()
	id, err := IDOf("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestSetSeesANamespaceComeAndGo(t *testing.T) {
	name := fmt.Sprintf("snagt%d", os.Getpid())
	set := Set{Proc: "/proc", NameDirs: NameDirs, Own: ownID(t)}
	if _, _, err := set.Refresh(); err != nil {
		t.Fatal(err)
	}
	addNamespace(t, name)
	if !set.Stale() {
		t.Error("a new name was not noticed")
	}
	came, _, err := set.Refresh()
	if err != nil {
		t.Fatal(err)
	}
	i := indexName(came, name)
	if i < 0 {
		t.Fatalf("%s is not among those that came: %v", name, came)
	}
	h, err := Open(came[i])
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Do(func() error {
		if id, err := IDOf("/proc/thread-self/ns/net"); err != nil || id != came[i].ID {
			t.Errorf("inside Do the thread is in %d (%v), want %d", id, err, came[i].ID)
		}
		if id, _ := IDOf("/proc/self/ns/net"); id != set.Own {
			t.Errorf("Do moved the main thread to %d", id)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ip", "netns", "del", name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !set.Stale() {
		t.Error("a name that went was not noticed")
	}
	_, gone, err := set.Refresh()
	if err != nil {
		t.Fatal(err)
	}
	if indexName(gone, name) < 0 {
		t.Errorf("%s is not among those that went: %v", name, gone)
	}
}

func indexName(all []Namespace, name string) int {
	for i, n := range all {
		if n.Name == name {
			return i
		}
	}
	return -1
}

func TestDoReturnsTheErrorOfTheFunction(t *testing.T) {
	want := errors.New("inside")
	stay := func(int) error { return nil }
	if err := do(0, stay, func() error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

func TestDoWithoutTheCapabilityNamesIt(t *testing.T) {
	refuse := func(int) error { return unix.EPERM }
	err := do(0, refuse, func() error { t.Error("ran all the same"); return nil })
	if !errors.Is(err, ErrNotPermitted) || !strings.Contains(err.Error(), "CAP_SYS_ADMIN") {
		t.Errorf("got %v", err)
	}
}

func TestAThreadThatCannotReturnIsNotUsedAgain(t *testing.T) {
	calls := 0
	lost := 0
	broken := func(int) error {
		if calls++; calls == 2 {
			return unix.EINVAL
		}
		return nil
	}
	if err := do(0, broken, func() error { lost = unix.Gettid(); return nil }); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", lost)); os.IsNotExist(err) {
			return
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 5e6}, nil)
	}
	t.Errorf("thread %d, left in a foreign namespace, lives on", lost)
}

func TestInOwnTellsNamespacesApart(t *testing.T) {
	name := fmt.Sprintf("snago%d", os.Getpid())
	addNamespace(t, name)
	start := func(args ...string) int {
		cmd := exec.Command(args[0], args[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd.Process.Pid
	}
	here, there := start("sleep", "60"), start("ip", "netns", "exec", name, "sleep", "60")
	own := ownID(t)
	for range 200 { // until ip has entered
		if id, err := IDOf(fmt.Sprintf("/proc/%d/ns/net", there)); err == nil && id != own {
			break
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 1e7}, nil)
	}
	if !InOwn("/proc", here) || InOwn("/proc", there) {
		t.Errorf("here %v, in another %v; want true, false", InOwn("/proc", here), InOwn("/proc", there))
	}
}

func TestOpenRefusesAReusedPath(t *testing.T) {
	if _, err := Open(Namespace{ID: 1, Path: "/proc/self/ns/net"}); err == nil || !strings.Contains(err.Error(), "no longer") {
		t.Errorf("got %v", err)
	}
}

func TestMostOpenIsBounded(t *testing.T) {
	if n := MostOpen(6, 256); n < 1 || n > 256 {
		t.Errorf("MostOpen = %d", n)
	}
	if n := MostOpen(1<<30, 256); n != 1 {
		t.Errorf("MostOpen of a huge cost = %d, want 1: the own one", n)
	}
}

// A process whose link may not be read is in a namespace that was seen when its
// files below /proc/PID/net are that namespace's.
func TestHiddenAreThoseOfNoNamespaceSeen(t *testing.T) {
	proc := t.TempDir()
	file := func(pid string) string {
		if err := os.MkdirAll(filepath.Join(proc, pid, "net"), 0o755); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(proc, pid, "net/netstat")
	}
	for _, pid := range []string{"2", "4"} {
		if err := os.WriteFile(file(pid), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(file("2"), file("1")); err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]*Namespace{7: {ID: 7, PID: 2}}
	for _, c := range []struct {
		refused []int
		want    int
	}{{nil, 0}, {[]int{1}, 0}, {[]int{1, 4}, 1}, {[]int{9}, 0}} {
		if got := hidden(proc, c.refused, seen); got != c.want {
			t.Errorf("hidden of %v: %d, want %d", c.refused, got, c.want)
		}
	}
}

// A namespace with two names is found by both, the own one by its name.
func TestNamed(t *testing.T) {
	name := fmt.Sprintf("snagm%d", os.Getpid())
	addNamespace(t, name)
	second := filepath.Join(NamedDir, name+"b")
	if err := os.WriteFile(second, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(second) })
	if got := Named(NameDirs, name+"b"); got != 0 {
		t.Errorf("a plain file is namespace %d", got)
	}
	if err := unix.Mount("/proc/self/ns/net", second, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(second, unix.MNT_DETACH) })
	if got := Named(NameDirs, name+"b"); got != ownID(t) {
		t.Errorf("the own one is %d, want %d", got, ownID(t))
	}
	if got := Named(NameDirs, name); got != inode(t, filepath.Join(NamedDir, name)) {
		t.Errorf("%s is %d", name, got)
	}
	for _, none := range []string{"", ".", "..", "../netns/" + name, name + "x"} {
		if got := Named(NameDirs, none); got != 0 {
			t.Errorf("%q is namespace %d", none, got)
		}
	}
}
