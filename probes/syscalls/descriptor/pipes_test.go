package descriptor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

func TestOtherEndOfAPipe(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	w := os.NewFile(uintptr(ends[1]), "w")
	pid := child(t, w)
	w.Close()
	defer unix.Close(ends[0])
	r := New("/proc", own(t))
	row, err := r.Look(os.Getpid(), ends[0])
	if err != nil {
		t.Fatal(err)
	}
	r.Complete(time.Now(), []*recording.FD{&row})
	if row.Kind != "pipe" || row.PeerPID != pid || row.PeerComm != "sleep" {
		t.Errorf("%+v, want the writer %d", row, pid)
	}
}

// A pipe with a name, as containerd makes them for what a container prints.
func TestOtherEndOfANamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stdout")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	both, err := os.OpenFile(path, os.O_RDWR, 0) // does not wait for the other end
	if err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	pid := child(t, w)
	w.Close()
	in, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(in)
	both.Close()
	r := New("/proc", own(t))
	row, err := r.Look(os.Getpid(), in)
	if err != nil {
		t.Fatal(err)
	}
	r.Complete(time.Now(), []*recording.FD{&row})
	if row.Kind != "pipe" || row.Inode == 0 || row.Name != path || row.PeerPID != pid {
		t.Errorf("%+v, want the writer %d of %s", row, pid, path)
	}
}

func FuzzParseFlags(f *testing.F) {
	f.Add([]byte("pos:\t0\nflags:\t02000001\nmnt_id:\t14\n"))
	f.Add([]byte("flags:"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, ok := parseFlags(b); n != 0 && !ok {
			t.Errorf("%q: %o", b, n)
		}
	})
	if n, ok := parseFlags([]byte("pos:\t0\nflags:\t02000001\n")); !ok || n&unix.O_ACCMODE != unix.O_WRONLY {
		f.Errorf("%o %v", n, ok)
	}
}
