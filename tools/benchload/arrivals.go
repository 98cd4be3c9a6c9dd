package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A short answer of HTTP, of a connection that goes on.
var httpAnswer = []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

// arrivals are the times at which the kernel took the requests from the network, by connection, in ns. On the
// loopback interface that is while the sender is in its write: how soon this program is woken does not matter.
type arrivals struct {
	mu  sync.Mutex
	all [][]int64
}

// serveArrivals answers HTTP until the input ends, and writes the file then.
func serveArrivals(l net.Listener, input io.Reader, path string) error {
	debug.SetGCPercent(-1)
	var a arrivals
	var going sync.WaitGroup
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			going.Go(func() { a.serve(c.(*net.TCPConn)) })
		}
	}()
	if _, err := io.Copy(io.Discard, input); err != nil {
		return err
	}
	l.Close()
	going.Wait() // the generator has ended, and its connections with it
	text, err := json.Marshal(a.all)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func (a *arrivals) serve(c *net.TCPConn) {
	defer c.Close()
	at := make([]int64, 0, 1<<16)
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	if raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}) != nil || err != nil {
		return
	}
	b, control := make([]byte, 16<<10), make([]byte, 256)
	for {
		var n, controls int
		var received error
		waited := raw.Read(func(fd uintptr) bool {
			n, controls, _, _, received = unix.Recvmsg(int(fd), b, control, 0)
			return !errors.Is(received, unix.EAGAIN)
		})
		if waited != nil || received != nil || n <= 0 {
			break
		}
		when, known := stamp(control[:controls])
		if !known {
			// The kernel begins to stamp a moment after the first socket asks for it (net_enable_timestamp).
			when = time.Now().UnixNano()
		}
		for range bytes.Count(b[:n], []byte("\r\n\r\n")) {
			at = append(at, when)
			if _, err := c.Write(httpAnswer); err != nil {
				break
			}
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, at)
}

// stamp is the time in a control message of SO_TIMESTAMPNS.
func stamp(control []byte) (ns int64, known bool) {
	all, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0, false
	}
	for _, m := range all {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= 16 {
			return int64(binary.NativeEndian.Uint64(m.Data))*1e9 + int64(binary.NativeEndian.Uint64(m.Data[8:])), true
		}
	}
	return 0, false
}
