package strace

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/internal/conversation"
)

// talker sends 20 and 80 bytes, awaits 10, and waits for 100 ms, five times.
const talker = `
import socket, sys, time
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 50000)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
s.settimeout(2.5)
s.connect(("127.0.0.1", int(sys.argv[1])))
for i in range(5):
    s.send(b"x" * 20)
    s.send(b"y" * 80)
    n = 0
    while n < 10: n += len(s.recv(100))
    time.sleep(0.1)
`

// traced runs a program of Python, which is given the port of a server that answers each 100 bytes with 10, under the
// strace of this host.
func traced(t *testing.T, program string) (path string) {
	t.Helper()
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
	path = filepath.Join(t.TempDir(), "trace.txt")
	if said, err := exec.Command("strace", "-f", "-tt", "-T", "-o", path, python, "-c", program, port).CombinedOutput(); err != nil {
		t.Fatalf("strace: %v: %s", err, said)
	}
	return path
}

// What the strace of this host writes of a client is what the client does.
func TestConversationOfARealTrace(t *testing.T) {
	path := traced(t, talker)
	c, err := Conversation(context.Background(), path, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	m, split := joined(c.Messages())
	if want := pausesBetweenWrites(t, path); split != want {
		t.Errorf("%d messages are in two, want %d", split, want)
	}
	if len(m) != 5 || c.NoDelay == nil || !*c.NoDelay || c.ReceiveBuffer != 50000 || c.Congestion != "reno" || c.Timeout != 2500*time.Millisecond {
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

// joined puts together what a pause between two writes has parted, and counts how often.
func joined(m []conversation.Message) (out []conversation.Message, split int) {
	for i, one := range m {
		if i > 0 && m[i-1].Answer == 0 {
			last := &out[len(out)-1]
			last.Writes, last.Answer = append(last.Writes, one.Writes...), one.Answer
			split++
			continue
		}
		out = append(out, one)
	}
	return out, split
}

var wrote = regexp.MustCompile(`(?m)^\d+ +(\d\d:\d\d:\d\d\.\d+) (?:send|sendto|write)\(3, .* = (20|80) <([\d.]+)>$`)

// pausesBetweenWrites counts, by the lines alone, where 80 bytes were written more than 5 ms
// after 20, as on a busy machine.
func pausesBetweenWrites(t *testing.T, path string) (n int) {
	t.Helper()
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var end time.Time
	lines := wrote.FindAllSubmatch(all, -1)
	if len(lines) != 10 {
		t.Fatalf("%d writes in the trace, want 10", len(lines))
	}
	for _, l := range lines {
		begin, err := time.Parse("15:04:05.000000", string(l[1]))
		if err != nil {
			t.Fatal(err)
		}
		if string(l[2]) == "80" && begin.Sub(end) > 5*time.Millisecond {
			n++
		}
		took, err := time.ParseDuration(string(l[3]) + "s")
		if err != nil {
			t.Fatal(err)
		}
		end = begin.Add(took)
	}
	return n
}

// corker sends 20 and 80 bytes that the kernel joins: by a flag, and then by TCP_CORK.
const corker = `
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.send(b"x" * 20, socket.MSG_MORE)
s.send(b"y" * 80)
n = 0
while n < 10: n += len(s.recv(100))
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
s.send(b"x" * 20)
s.send(b"y" * 80)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
n = 0
while n < 10: n += len(s.recv(100))
`

// Joined writes of a real trace are one write each.
func TestJoinedWritesOfARealTrace(t *testing.T) {
	path := traced(t, corker)
	c, err := Conversation(context.Background(), path, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	m := c.Messages()
	for _, one := range m {
		if !slices.Equal(one.Writes, []int{100}) || one.Answer != 10 {
			t.Errorf("%+v", one)
		}
	}
	if len(m) != 2 {
		t.Errorf("%d messages: %+v", len(m), m)
	}
}
