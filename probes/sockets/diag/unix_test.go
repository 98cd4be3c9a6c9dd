package diag

import (
	"net"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUnixSocketsAndTheirPeers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	if _, err := unix.Write(pair[0], []byte("five!")); err != nil {
		t.Fatal(err)
	}
	var a, b unix.Stat_t
	if unix.Fstat(pair[0], &a) != nil || unix.Fstat(pair[1], &b) != nil {
		t.Fatal("fstat of a socket")
	}
	c, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	found := map[uint64]Unix{}
	listens := false
	if err := c.DumpUnix(AnyState, func(u Unix) {
		found[u.Inode] = u
		listens = listens || u.Name == path && u.State == "LISTEN"
	}); err != nil {
		t.Fatal(err)
	}
	if found[a.Ino].Peer != b.Ino || found[b.Ino].Peer != a.Ino || found[b.Ino].RecvQ == 0 {
		t.Errorf("the pair %d, %d: %+v, %+v", a.Ino, b.Ino, found[a.Ino], found[b.Ino])
	}
	if !listens {
		t.Errorf("no listener at %s in %d sockets", path, len(found))
	}
}

func FuzzDecodeUnix(f *testing.F) {
	f.Add([]byte{1, 1, 1, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 2, 0, 7, 0, 0, 0})
	f.Add([]byte{1, 1, 10, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 'x'})
	f.Fuzz(func(t *testing.T, b []byte) {
		if u, ok := decodeUnix(b); ok && (len(b) < unixMessageSize || len(u.Name) > len(b)) {
			t.Errorf("%x: %+v", b, u)
		}
	})
}

func TestUnixName(t *testing.T) {
	for in, want := range map[string]string{
		"/run/php.sock": "/run/php.sock", "/run/php.sock\x00": "/run/php.sock", "\x00app\x00x": "@app@x",
		"": "", "/tmp/a\nb\x1b[31m": "/tmp/a?b?[31m", "/tmp/\xff": "/tmp/?",
	} {
		if got := UnixName([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
