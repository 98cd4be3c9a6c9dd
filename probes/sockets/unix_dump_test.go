package sockets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/sockets/diag"
	"snag/recording"
)

func TestUnixRows(t *testing.T) {
	stream, dgram := unix.SOCK_STREAM, unix.SOCK_DGRAM
	all := []diag.Unix{
		{Type: stream, State: "LISTEN", Inode: 1, Name: "/run/php.sock", RecvQ: 3, SendQ: 8},
		{Type: stream, State: "ESTABLISHED", Inode: 2, Peer: 3, Name: "/run/php.sock", RecvQ: 40, SendQ: 99},
		{Type: stream, State: "ESTABLISHED", Inode: 3, Peer: 2},
		{Type: stream, State: "ESTABLISHED", Inode: 4, Peer: 5, Name: "/tmp/caller"}, // bound itself
		{Type: stream, State: "ESTABLISHED", Inode: 5, Peer: 4, Name: "/run/php.sock"},
		{Type: stream, State: "ESTABLISHED", Inode: 6, Peer: 7}, // a pair
		{Type: stream, State: "ESTABLISHED", Inode: 7, Peer: 6},
		{Type: stream, State: "ESTABLISHED", Inode: 8}, // whose connection was not accepted yet
		{Type: dgram, State: "ESTABLISHED", Inode: 9, Peer: 1, Name: "/run/notify"},
		{Type: stream, State: "LISTEN", Inode: 10, Name: "/run/systemd/journal/stdout", SendQ: 4096},
		{Type: stream, State: "ESTABLISHED", Inode: 11, Peer: 12, Name: "/run/systemd/journal/stdout"},
		{Type: stream, State: "ESTABLISHED", Inode: 12, Peer: 11},
		{Type: stream, State: "LISTEN", Inode: 13},
	}
	var got []string
	for _, r := range unixRows(all) {
		got = append(got, fmt.Sprintf("%s %s %s %d/%d", r.State, r.Local, r.Remote, r.RecvQ, r.SendQ))
	}
	want := []string{
		"LISTEN unix:/run/php.sock  3/8",
		"ESTABLISHED unix:/run/php.sock unix:#3 40/0",
		"ESTABLISHED unix:#3 unix:/run/php.sock 0/0",
		"ESTABLISHED unix:#4 unix:/run/php.sock 0/0",
		"ESTABLISHED unix:/run/php.sock unix:#4 0/0",
		"LISTEN unix:/run/systemd/journal/stdout  0/4096",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestUnixListenersAreDumped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "full.sock")
	b.do(func() error { // a backlog of one holds two, and nobody accepts
		at := &unix.SockaddrUnix{Name: path}
		l, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err == nil {
			err = unix.Bind(l, at)
		}
		if err == nil {
			err = unix.Listen(l, 1)
		}
		b.t.Cleanup(func() { unix.Close(l) })
		for range 3 {
			c, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
			_ = unix.Connect(c, at)
			b.t.Cleanup(func() { unix.Close(c) })
		}
		return err
	})
	open := filepath.Join(t.TempDir(), "open.sock")
	l := b.listenUnix(open)
	c := b.dialUnix("", open)
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	if _, err := c.Write([]byte("unread")); err != nil {
		t.Fatal(err)
	}
	r := b.start()
	time.Sleep(1500 * time.Millisecond) // its backlog is seen full, and connect is looked at
	refused := uint64(0)
	b.do(func() error {
		for range 5 {
			c, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
			if err != nil {
				return err
			}
			if unix.Connect(c, &unix.SockaddrUnix{Name: path}) == unix.EAGAIN {
				refused++
			}
			unix.Close(c)
		}
		return nil
	})
	time.Sleep(1100 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.unix")
	counted := uint64(0)
	for _, e := range rec.CallErrors {
		if e.Netns == b.id && e.Call == "connect" && e.Errno == "EAGAIN" && e.PID == os.Getpid() {
			counted += e.N
		}
	}
	if refused != 5 || counted != 5 {
		t.Errorf("%d connects were refused, %d counted, want 5", refused, counted)
	}
	var full, accepted, caller recording.Socket
	for _, row := range rec.Sockets {
		switch {
		case row.Netns != b.id || row.Proto != "unix":
		case row.Local == "unix:"+path:
			full = row
		case row.Local == "unix:"+open && row.State == "ESTABLISHED":
			accepted = row
		case row.Remote == "unix:"+open:
			caller = row
		}
	}
	if full.State != "LISTEN" || full.RecvQ != 2 || full.SendQ != 1 || len(full.Owners) == 0 {
		t.Errorf("the full listener: %+v", full)
	}
	if accepted.RecvQ == 0 || len(accepted.Owners) == 0 || caller.Local == "" || accepted.Remote != caller.Local {
		t.Errorf("the accepted one: %+v\nits caller: %+v", accepted, caller)
	}
}
