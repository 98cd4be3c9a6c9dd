package sockets

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onThread has something done on a thread with a name of its own, as Java names them. The first thread's is that of the
// process.
func onThread(t *testing.T, name string, do func()) {
	runtime.LockOSThread() // and is not let go: the thread ends with its goroutine
	if unix.Gettid() == os.Getpid() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			onThread(t, name, do)
		}()
		<-done
		runtime.UnlockOSThread()
		return
	}
	text := append([]byte(name), 0)
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&text[0])), 0, 0, 0); err != nil {
		t.Error(err)
	}
	do()
}

// Who serves and who asks has the name of its process, whatever its thread is called: a pool of threads is one service.
func TestServersAndCallersHaveTheNamesOfTheirProcesses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start()
	own, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	l := b.listen("127.0.0.1:7351")
	go onThread(t, "pool-1-thread-7", func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if _, err = c.Read(make([]byte, 10)); err == nil {
				_, _ = c.Write(make([]byte, 10))
			}
			c.Close()
		}
	})
	asked := make(chan struct{})
	go onThread(t, "caller-3", func() {
		defer close(asked)
		for range 3 {
			c := b.dial("127.0.0.1:7351")
			if _, err := c.Write(make([]byte, 10)); err == nil {
				_, _ = c.Read(make([]byte, 10))
			}
			c.Close()
		}
	})
	<-asked
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for _, role := range []string{"serve", "call"} {
		_, rows := turns(rec, b, role, "7351")
		if len(rows) == 0 {
			t.Errorf("%s: no row", role)
		}
		for _, row := range rows {
			if row.Comm != strings.TrimSpace(string(own)) || row.PID != os.Getpid() {
				t.Errorf("%s: by %s[%d], want %s[%d]", role, row.Comm, row.PID, own, os.Getpid())
			}
		}
	}
}
