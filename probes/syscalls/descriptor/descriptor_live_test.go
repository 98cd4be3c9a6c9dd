package descriptor

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/recording"
)

func TestKinds(t *testing.T) {
	for link, want := range map[string]string{
		"socket:[77]": "socket", "pipe:[5]": "pipe", "anon_inode:[eventpoll]": "epoll", "anon_inode:[eventfd]": "eventfd",
		"anon_inode:[timerfd]": "timerfd", "anon_inode:[signalfd]": "signalfd", "anon_inode:inotify": "inotify",
		"anon_inode:bpf-map": "other", "/dev/pts/3": "tty", "/dev/null": "device", "/dev/shm/x": "file", "/var/log/a (deleted)": "file",
		"net:[4026531840]": "other", "socket:[x]": "other", "/memfd:x (deleted)": "file",
	} {
		if kind, _ := KindOf(link); kind != want {
			t.Errorf("%s is of kind %s, want %s", link, kind, want)
		}
	}
	if _, inode := KindOf("socket:[77]"); inode != 77 {
		t.Errorf("inode %d", inode)
	}
}

func FuzzKindOf(f *testing.F) {
	f.Add("socket:[77]")
	f.Add("anon_inode:[eventpoll]")
	f.Fuzz(func(t *testing.T, link string) {
		if kind, inode := KindOf(link); kind == "" || inode != 0 && kind != socket && kind != pipe {
			t.Errorf("%q: %s %d", link, kind, inode)
		}
	})
}

func own(t *testing.T) uint64 {
	t.Helper()
	id, err := netns.IDOf("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// child holds the other end: a process that has one socket as descriptor 3.
func child(t *testing.T, f *os.File) int {
	t.Helper()
	c := exec.Command("sleep", "60")
	c.ExtraFiles = []*os.File{f}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c.Process.Pid
}

func TestPeersOfTCPAndUnix(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := s.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	tcpPID := child(t, theirs)
	theirs.Close()
	s.Close()
	mine, err := c.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	half := os.NewFile(uintptr(pair[1]), "half")
	unixPID := child(t, half)
	half.Close()
	defer unix.Close(pair[0])

	r := New("/proc", own(t))
	rows := []*recording.FD{}
	for _, fd := range []int{int(mine.Fd()), pair[0]} {
		row, err := r.Look(os.Getpid(), fd)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, &row)
	}
	r.Complete(time.Now(), rows)
	if tcp := rows[0]; tcp.Kind != "socket" || tcp.Proto != "tcp" || tcp.State != "ESTABLISHED" || tcp.Remote != l.Addr().String() || tcp.PeerPID != tcpPID || tcp.PeerComm != "sleep" {
		t.Errorf("%+v, want the peer %d at %s", *tcp, tcpPID, l.Addr())
	}
	if u := rows[1]; u.Proto != "unix" || u.PeerPID != unixPID {
		t.Errorf("%+v, want the peer %d", *u, unixPID)
	}
	if r.Failed() != nil {
		t.Error(r.Failed())
	}
}

// TestMain is also the process in another network namespace.
func TestMain(m *testing.M) {
	if os.Getenv("DESCRIPTOR_ELSEWHERE") != "" {
		elsewhere()
		return
	}
	os.Exit(m.Run())
}

// elsewhere connects to itself, and says by which descriptor.
func elsewhere() {
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		fmt.Println("error", err, string(out))
		return
	}
	l, err := net.Listen("tcp4", "127.0.0.1:7001")
	if err != nil {
		fmt.Println("error", err)
		return
	}
	c, err := net.Dial("tcp4", "127.0.0.1:7001")
	if err != nil {
		fmt.Println("error", err)
		return
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		fmt.Println("error", err)
		return
	}
	_ = raw.Control(func(fd uintptr) { fmt.Println("fd", fd) })
	time.Sleep(time.Minute)
	_ = l.Close()
}

func TestSocketsOfAnotherNamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to make a network namespace")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "DESCRIPTOR_ELSEWHERE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var word string
	var fd int
	if _, err := fmt.Fscan(out, &word, &fd); err != nil || word != "fd" {
		t.Fatalf("the other process says %q: %v", word, err)
	}
	r := New("/proc", own(t))
	row, err := r.Look(cmd.Process.Pid, fd)
	if err != nil {
		t.Fatal(err)
	}
	r.Complete(time.Now(), []*recording.FD{&row})
	if row.Proto != "tcp" || row.Remote != "127.0.0.1:7001" || row.State != "ESTABLISHED" || r.Failed() != nil {
		t.Errorf("%+v, %v", row, r.Failed())
	}
}

func TestClosedDescriptorIsAnError(t *testing.T) {
	_, err := New("/proc", own(t)).Look(os.Getpid(), 9999)
	if err == nil || !strings.Contains(err.Error(), "descriptor 9999") {
		t.Errorf("error %v", err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "7/fd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/"+strings.Repeat("x", 400), filepath.Join(dir, "7/fd/3")); err != nil {
		t.Fatal(err)
	}
	if row, err := New(dir, 1).Look(7, 3); err != nil || len(row.Name) != maxName {
		t.Errorf("%d bytes of a long name, %v", len(row.Name), err)
	}
}
