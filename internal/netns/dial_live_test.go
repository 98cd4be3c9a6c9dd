package netns

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Ino
}

func TestDialInsideANamespace(t *testing.T) {
	name := fmt.Sprintf("snagd%d", os.Getpid())
	addNamespace(t, name)
	if out, err := exec.Command("ip", "-n", name, "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("set lo up: %v: %s", err, out)
	}
	path := filepath.Join(NameDirs[0], name)
	own := ownID(t)
	h, err := Open(Namespace{ID: inode(t, path), Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var l net.Listener
	if err := h.Do(func() (err error) { l, err = net.Listen("tcp", "127.0.0.1:0"); return err }); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := &net.Dialer{Timeout: 5 * time.Second}
	for _, address := range []string{l.Addr().String(), fmt.Sprintf("localhost:%d", l.Addr().(*net.TCPAddr).Port)} {
		c, err := Dial(context.Background(), d, path, "tcp", address)
		if err != nil {
			t.Fatalf("%s, inside: %v", address, err)
		}
		c.Close()
	}
	if c, err := Dial(context.Background(), d, "", "tcp", l.Addr().String()); err == nil {
		c.Close()
		t.Errorf("namespace %d reached the listener of another", own)
	}
	if _, err := Dial(context.Background(), d, path+"x", "tcp", "127.0.0.1:1"); err == nil {
		t.Error("dialled in a namespace that is not there")
	}
}
