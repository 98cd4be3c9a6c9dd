//go:build capture

// go test -tags capture makes the fixtures anew from this machine.

package host

import (
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestUpdateFixtures makes the fixtures: mq with two children, htb with classes
// and a pfifo, bfifo, a veth pair, addresses.
func TestUpdateFixtures(t *testing.T) {
	n := namespace(t, "fix")
	ip := func(args ...string) { t.Helper(); run(t, "ip", append([]string{"-n", n.Name}, args...)...) }
	tcq := func(args ...string) { t.Helper(); run(t, "tc", append([]string{"-n", n.Name}, args...)...) }
	ip("link", "add", "v0", "numtxqueues", "2", "type", "veth", "peer", "name", "v1")
	ip("link", "add", "v2", "type", "veth", "peer", "name", "v3")
	ip("link", "add", "d0", "type", "veth", "peer", "name", "d1")
	for _, l := range []string{"v0", "v1", "v2", "d0", "d1"} {
		ip("link", "set", l, "up")
	}
	ip("addr", "add", "10.9.0.1", "peer", "10.9.0.2/32", "dev", "v0")
	ip("-6", "addr", "add", "2001:db8::1/64", "dev", "d0", "nodad")
	tcq("qdisc", "replace", "dev", "v0", "root", "handle", "7:", "mq")
	tcq("qdisc", "replace", "dev", "v0", "parent", "7:2", "handle", "72:", "tbf", "rate", "8mbit", "burst", "10k", "latency", "50ms")
	tcq("qdisc", "replace", "dev", "v2", "root", "handle", "1:", "htb", "default", "10")
	tcq("class", "add", "dev", "v2", "parent", "1:", "classid", "1:10", "htb", "rate", "1mbit", "ceil", "2mbit")
	tcq("qdisc", "add", "dev", "v2", "parent", "1:10", "handle", "10:", "pfifo", "limit", "5")
	tcq("qdisc", "replace", "dev", "d0", "root", "handle", "3:", "bfifo", "limit", "40000")
	tcq("qdisc", "add", "dev", "v1", "clsact")
	inside(t, n, func() error {
		out, err := net.Dial("udp", "[2001:db8::2]:9")
		if err != nil {
			return err
		}
		out.Write([]byte("x")) // so that a counter of d0 is not 0
		out.Close()
		r := dialRoute(make([]byte, replyMost))
		defer r.close()
		class := make([]byte, 20)
		for _, d := range []struct {
			name   string
			kind   uint16
			header []byte
		}{
			{"qdiscs.bin", unix.RTM_GETQDISC, make([]byte, 20)}, {"links.bin", unix.RTM_GETLINK, linkRequest},
			{"addrs.bin", unix.RTM_GETADDR, make([]byte, 8)}, {"classes.bin", unix.RTM_GETTCLASS, class},
		} {
			var out []byte
			if err := r.dump(d.kind, d.header, func(data []byte) error {
				out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
				out = append(out, data...)
				if l, err := decodeLink(data); d.kind == unix.RTM_GETLINK && err == nil && l.Name == "v2" {
					binary.NativeEndian.PutUint32(class[4:], uint32(l.Index))
				}
				return nil
			}); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join("testdata", d.name), out, 0o644); err != nil {
				return err
			}
		}
		return nil
	})
}
