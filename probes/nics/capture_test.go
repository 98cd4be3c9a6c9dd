//go:build capture

// go test -tags capture makes the fixtures anew from this machine.

package nics

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUpdateFixtures(t *testing.T) {
	tl, err := openTool()
	if err != nil {
		t.Fatal(err)
	}
	defer tl.close()
	for name, q := range map[string][2]int{
		"rings": {unix.ETHTOOL_MSG_RINGS_GET, unix.ETHTOOL_A_RINGS_HEADER}, "channels": {unix.ETHTOOL_MSG_CHANNELS_GET, unix.ETHTOOL_A_CHANNELS_HEADER},
		"coalesce": {unix.ETHTOOL_MSG_COALESCE_GET, unix.ETHTOOL_A_COALESCE_HEADER}, "linkmodes": {unix.ETHTOOL_MSG_LINKMODES_GET, unix.ETHTOOL_A_LINKMODES_HEADER},
		"features": {unix.ETHTOOL_MSG_FEATURES_GET, unix.ETHTOOL_A_FEATURES_HEADER},
	} {
		replies, err := tl.ask(uint8(q[0]), uint16(q[1]), "eth0", 0)
		if err != nil || len(replies) != 1 {
			t.Fatalf("%s: %d replies, %v", name, len(replies), err)
		}
		if err := os.WriteFile(filepath.Join("testdata", name+".bin"), replies[0].Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"interrupts", "softirqs"} {
		data, err := os.ReadFile("/proc/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join("testdata", name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
