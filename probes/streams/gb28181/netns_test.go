package gb28181

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"snag/probes/streams/gb28181/gbtest"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// A platform that is reached from inside a namespace alone.
func TestNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	name := fmt.Sprintf("snag-gb-%d", os.Getpid())
	for _, args := range [][]string{{"netns", "add", name}, {"-n", name, "link", "set", "lo", "up"}} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v: %s", args, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	path := "/run/netns/" + name
	for _, network := range []string{"udp", "tcp"} {
		p := &gbtest.Platform{ID: platformID, Cameras: listed()}
		if err := wire.In(path, func() error { p.Serve(t, network); return nil }); err != nil {
			t.Fatal(err)
		}
		a := at(t, p.URL()+"?transport="+network)
		if _, err := Catalogue(context.Background(), a, stream.Options{Timeout: time.Second}); err == nil {
			t.Errorf("%s: it is reached from snag's own namespace", network)
		}
		l, err := Catalogue(context.Background(), a, stream.Options{Timeout: time.Second, Netns: path})
		if err != nil || len(l.Cameras) != 3 {
			t.Errorf("%s: %+v, %v", network, l, err)
		}
		Leave(a, path)
	}
}
