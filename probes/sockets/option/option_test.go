package option

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// TestMain lets the test start itself as the other process that owns the socket.
func TestMain(m *testing.M) {
	if os.Getenv("SNAG_TEST_OWNER") != "" {
		io.Copy(io.Discard, os.Stdin) // until the test lets go
		return
	}
	os.Exit(m.Run())
}

func TestReadsTheOptionsOfAnotherProcess(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	tc := c.(*net.TCPConn)
	tc.SetNoDelay(false)
	tc.SetReadBuffer(50_000)
	f, err := tc.File() // a copy for the child, as its descriptor 3
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	unix.Fstat(int(f.Fd()), &st)
	unix.SetNonblock(int(f.Fd()), true)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "SNAG_TEST_OWNER=1")
	child.ExtraFiles = []*os.File{f}
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stdin.Close(); child.Wait() }()
	f.Close()
	c.Close()
	ref := recording.FDRef{PID: child.Process.Pid, FD: 3}
	o, err := Read(ref, st.Ino, true)
	if errors.Is(err, ErrNotPermitted) || errors.Is(err, ErrNoCall) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if o.NoDelay == nil || *o.NoDelay || o.Cork == nil || *o.Cork || o.QuickAck == nil || o.NonBlock == nil || o.RcvBuf != 100_000 || o.SndBuf == 0 {
		t.Errorf("%+v", o)
	}
	if o, err := Read(ref, st.Ino+1, true); err == nil || !strings.Contains(err.Error(), "another socket") {
		t.Errorf("a descriptor that was used again: %+v, %v", o, err)
	}
	if _, err := Read(recording.FDRef{PID: child.Process.Pid, FD: 99}, st.Ino, true); err == nil || !strings.Contains(err.Error(), strconv.Itoa(ref.PID)) {
		t.Errorf("a descriptor that is closed: %v", err)
	}
}
