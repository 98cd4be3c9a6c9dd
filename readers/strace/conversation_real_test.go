package strace

import (
	"context"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// talker sends 20 and 80 bytes, awaits 10, and waits for 100 ms, five times.
const talker = `
import socket, sys, time
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 50000)
s.settimeout(2.5)
s.connect(("127.0.0.1", int(sys.argv[1])))
for i in range(5):
    s.send(b"x" * 20)
    s.send(b"y" * 80)
    n = 0
    while n < 10: n += len(s.recv(100))
    time.sleep(0.1)
`

// What the strace of this host writes of a client is what the client does.
func TestConversationOfARealTrace(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for b := make([]byte, 100); ; {
			if _, err := io.ReadFull(c, b); err != nil {
				return
			}
			_, _ = c.Write(b[:10])
		}
	}()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "trace.txt")
	if said, err := exec.Command("strace", "-f", "-tt", "-T", "-o", path, python, "-c", talker, port).CombinedOutput(); err != nil {
		t.Fatalf("strace: %v: %s", err, said)
	}
	c, err := Conversation(context.Background(), path, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	m := c.Messages()
	if len(m) != 5 || c.NoDelay == nil || !*c.NoDelay || c.ReceiveBuffer != 50000 || c.Timeout != 2500*time.Millisecond {
		t.Fatalf("%d messages, %+v", len(m), c.Set)
	}
	for i, one := range m {
		gap := time.Duration(0)
		if i > 0 {
			gap = one.At - m[i-1].At
		}
		if !slices.Equal(one.Writes, []int{20, 80}) || one.Answer != 10 || i > 0 && (gap < 100*time.Millisecond || gap > 300*time.Millisecond) {
			t.Errorf("message %d: %+v", i, one)
		}
	}
	if !strings.HasPrefix(c.From, "trace.txt, descriptor 3 of process ") {
		t.Error(c.From)
	}
}
