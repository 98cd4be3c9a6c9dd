package nics

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"snag/probes/probe"
)

// Interfaces come and go: each piece of a ring has those that are there, and the bound on rows counts only them.
func TestInterfacesAreWrittenAgainInEachPiece(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	ns := fmt.Sprintf("snagagain%d", os.Getpid())
	command(t, "ip", "netns", "add", ns)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", ns).Run() })
	command(t, "ip", "-n", ns, "link", "add", "nicstays", "type", "veth", "peer", "name", "nicstays1")
	s, sink := live(t)
	s.env.Round = &probe.Rotation{}
	rows := func(device string) (n int) {
		for _, row := range sink.Recording().NICs {
			if row.Device == device {
				n++
			}
		}
		return n
	}
	s.tick(0, true)
	s.settings.rows = mostRows // as if so many others had come and gone
	command(t, "ip", "-n", ns, "link", "add", "niclate", "type", "veth", "peer", "name", "niclate1")
	s.tick(0, true)
	if rows("nicstays") != 1 || rows("niclate") != 0 {
		t.Fatalf("in the first piece stays has %d rows and late %d", rows("nicstays"), rows("niclate"))
	}
	s.env.Round.Rotate()
	s.tick(0, true)
	if rows("nicstays") != 2 || rows("niclate") != 1 {
		t.Errorf("then stays has %d rows and late %d", rows("nicstays"), rows("niclate"))
	}
	command(t, "ip", "-n", ns, "link", "del", "niclate")
	s.env.Round.Rotate()
	s.tick(0, true)
	if rows("nicstays") != 3 || rows("niclate") != 1 || s.settings.rows != len(s.settings.last) {
		t.Errorf("after it went stays has %d rows and late %d; %d rows are counted", rows("nicstays"), rows("niclate"), s.settings.rows)
	}
}
