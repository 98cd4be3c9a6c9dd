package rtmp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/probes/streams/stream"
)

func TestOpenInsideANamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to make a network namespace")
	}
	name := fmt.Sprintf("snagrtmp%d", os.Getpid())
	ip := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v: %s", args, err, out)
		}
	}
	ip("netns", "add", name)
	t.Cleanup(func() { exec.Command("ip", "netns", "del", name).Run() })
	ip("-n", name, "link", "set", "lo", "up")
	path := netns.NameDirs[0] + "/" + name
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	h, err := netns.Open(netns.Namespace{ID: st.Ino, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var l net.Listener
	if err := h.Do(func() (err error) { l, err = net.Listen("tcp", "[::1]:0"); return err }); err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, pictures(5, time.Millisecond))
	sink := &seen{}
	err = openAt(t, context.Background(), "rtmp://"+l.Addr().String()+"/live/cam1", sink, stream.Options{Netns: path})
	var ended *stream.Ended
	if !errors.As(err, &ended) || len(sink.frames) != 5 {
		t.Errorf("%v, %d frames", err, len(sink.frames))
	}
}
