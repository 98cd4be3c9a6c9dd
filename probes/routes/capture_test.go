//go:build capture

// go test -tags capture makes the fixtures anew from this machine.

package routes

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"snag/internal/nldump"
)

func TestUpdateFixtures(t *testing.T) {
	client, router := path(t)
	for _, d := range []struct {
		file     string
		of       string
		protocol int
		kind     uint16
		header   []byte
	}{
		{"routes", client.Name, unix.NETLINK_ROUTE, unix.RTM_GETROUTE, askRoutes},
		{"neighbours", client.Name, unix.NETLINK_ROUTE, unix.RTM_GETNEIGH, make([]byte, 12)},
		{"netconf", router.Name, unix.NETLINK_ROUTE, unix.RTM_GETNETCONF, []byte{unix.AF_INET, 0, 0, 0}},
		{"chains", router.Name, unix.NETLINK_NETFILTER, unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETCHAIN, make([]byte, 4)},
		{"rules", router.Name, unix.NETLINK_NETFILTER, unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETRULE, make([]byte, 4)},
	} {
		n := client
		if d.of == router.Name {
			n = router
		}
		var out []byte
		inside(t, n, func() error {
			conn := nldump.Dial(d.protocol, make([]byte, nldump.ReplyMost))
			defer conn.Close()
			return conn.Dump(d.kind, d.header, func(data []byte) error {
				out = append(binary.LittleEndian.AppendUint32(out, uint32(len(data))), data...)
				return nil
			})
		})
		if err := os.WriteFile(filepath.Join("testdata", d.file+".bin"), out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
