package owner

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tree makes a procfs of processes with descriptors: "812 nginx 3=socket:[77]".
func tree(t *testing.T, processes ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, p := range processes {
		f := strings.Fields(p)
		dir := filepath.Join(root, f[0])
		if err := os.MkdirAll(filepath.Join(dir, "fd"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "comm"), []byte(f[1]+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, d := range f[2:] {
			fd, target, _ := strings.Cut(d, "=")
			if err := os.Symlink(target, filepath.Join(dir, "fd", fd)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func TestOwnersOfSharedAndUnknownSockets(t *testing.T) {
	table := New(tree(t, "812 nginx 3=socket:[77] 9=socket:[77] 4=/dev/null 5=pipe:[77]", "900 nginx 3=socket:[77] 6=socket:[80]", "x y"))
	now := time.Now()
	inodes := slices.Values([]uint64{77, 99, 0})
	if err := table.Refresh(now, false, inodes); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(table.Of(77), table.Of(80), table.Of(99), table.Of(0))
	refs := table.Of(77)
	if len(refs) != 2 || refs[0].PID != 812 || refs[1].PID != 900 || refs[1].FD != 3 || refs[0].Comm != "nginx" || len(table.Of(80)) != 1 || table.Of(99) != nil {
		t.Error(got)
	}
	if !table.Known(99) || !table.Known(0) || table.Known(1234) {
		t.Error("a socket that was looked for in vain is known to have no owner, and a new one is not")
	}
}

func TestScansAreRare(t *testing.T) {
	root := tree(t, "812 nginx 3=socket:[77]")
	table := New(root)
	now := time.Now()
	one := func(n uint64) func(func(uint64) bool) { return slices.Values([]uint64{n}) }
	table.Refresh(now, false, one(77))
	if err := os.Symlink("socket:[78]", filepath.Join(root, "812/fd/4")); err != nil {
		t.Fatal(err)
	}
	table.Refresh(now.Add(time.Second), false, one(78))
	if table.Of(78) != nil {
		t.Error("it scanned again within two seconds")
	}
	table.Look([]int{812}) // a watched process is read directly
	if table.Of(78) == nil || len(table.Of(77)) != 1 {
		t.Errorf("watched process: %v %v", table.Of(78), table.Of(77))
	}
	if err := os.Symlink("socket:[79]", filepath.Join(root, "812/fd/5")); err != nil {
		t.Fatal(err)
	}
	table.Refresh(now.Add(10*time.Second), false, one(78))
	if table.Of(79) != nil {
		t.Error("it scanned though it knew every socket")
	}
	table.Refresh(now.Add(10*time.Second), false, one(79))
	if table.Of(79) == nil {
		t.Error("it did not scan for an unknown socket")
	}
}

// In a recording that has no end, scans that take long are further apart.
func TestScansOfARecordingWithoutEndAreRarer(t *testing.T) {
	root := tree(t, "812 nginx 3=socket:[77]")
	for _, c := range []struct {
		table *Table
		after time.Duration
		scans bool
	}{
		{New(root), 1900 * time.Millisecond, false},
		{New(root), 2100 * time.Millisecond, true},
		{New(root).Rarely(), 2100 * time.Millisecond, false},
		{New(root).Rarely(), 6100 * time.Millisecond, true},
	} {
		now := time.Now()
		c.table.scanned, c.table.took = now, 30*time.Millisecond
		if err := c.table.Refresh(now.Add(c.after), false, slices.Values([]uint64{77})); err != nil {
			t.Fatal(err)
		}
		if scanned := c.table.Of(77) != nil; scanned != c.scans {
			t.Errorf("share %d, after %v: scanned %v, want %v", c.table.share, c.after, scanned, c.scans)
		}
	}
}

func TestFindsOwnSocket(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	raw, _ := l.(*net.TCPListener).SyscallConn()
	var st unix.Stat_t
	var at int
	raw.Control(func(fd uintptr) { unix.Fstat(int(fd), &st); at = int(fd) })
	table := New("/proc")
	if err := table.Refresh(time.Now(), true, slices.Values([]uint64{st.Ino})); err != nil {
		t.Fatal(err)
	}
	refs := table.Of(st.Ino)
	if len(refs) != 1 || refs[0].PID != os.Getpid() || refs[0].FD != at || refs[0].Comm == "" {
		t.Errorf("%+v, want descriptor %d of %d", refs, at, os.Getpid())
	}
}

func TestNoProcfsIsAnError(t *testing.T) {
	if err := New(filepath.Join(t.TempDir(), "absent")).Refresh(time.Now(), true, slices.Values([]uint64{1})); err == nil {
		t.Error("no error")
	}
}

func FuzzInode(f *testing.F) {
	f.Add("socket:[77]")
	f.Add("socket:[]")
	f.Add("pipe:[77]")
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := Inode(s)
		if ok && (n == 0 || !strings.HasPrefix(s, "socket:[")) {
			t.Errorf("%q is socket %d", s, n)
		}
	})
}
