package routes

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// neighbour is one entry as RTM_GETNEIGH tells it (include/uapi/linux/neighbour.h).
type neighbour struct {
	Addr   netip.Addr
	Index  int
	State  string
	Lladdr string
	Probes int
}

// states are the names of ip neigh.
var states = []struct {
	bit  uint16
	name string
}{
	{unix.NUD_PERMANENT, "PERMANENT"}, {unix.NUD_NOARP, "NOARP"}, {unix.NUD_FAILED, "FAILED"},
	{unix.NUD_INCOMPLETE, "INCOMPLETE"}, {unix.NUD_REACHABLE, "REACHABLE"}, {unix.NUD_STALE, "STALE"},
	{unix.NUD_DELAY, "DELAY"}, {unix.NUD_PROBE, "PROBE"},
}

// decodeNeighbour reads the payload of a reply: struct ndmsg and its attributes.
// An entry without an address (of a bridge) has the zero Addr.
func decodeNeighbour(data []byte) (neighbour, error) {
	if len(data) < 12 {
		return neighbour{}, fmt.Errorf("decode a neighbour: %d bytes are not a ndmsg", len(data))
	}
	n := neighbour{Index: int(int32(binary.NativeEndian.Uint32(data[4:]))), State: "NONE"}
	bits := binary.NativeEndian.Uint16(data[8:])
	for _, s := range states {
		if bits&s.bit != 0 {
			n.State = s.name
			break
		}
	}
	ad, err := netlink.NewAttributeDecoder(data[12:])
	if err != nil {
		return neighbour{}, fmt.Errorf("decode a neighbour: %w", err)
	}
	for ad.Next() {
		b := ad.Bytes()
		switch ad.Type() {
		case unix.NDA_DST:
			n.Addr, _ = netip.AddrFromSlice(b)
		case unix.NDA_LLADDR:
			n.Lladdr = net.HardwareAddr(b).String()
		case unix.NDA_PROBES:
			n.Probes = number(b)
		}
	}
	if err := ad.Err(); err != nil {
		return neighbour{}, fmt.Errorf("decode a neighbour: %w", err)
	}
	return n, nil
}

// Attributes of include/uapi/linux/netconf.h.
const (
	netconfIndex      = 1
	netconfForwarding = 2
	netconfRPFilter   = 3
)

// netconf is how one interface is set (include/uapi/linux/netconf.h). Index −1 is
// "all", −2 "default".
type netconf struct {
	Index      int
	RPFilter   *int
	Forwarding *int
}

// decodeNetconf reads a reply of RTM_GETNETCONF: struct netconfmsg and its
// attributes.
func decodeNetconf(data []byte) (netconf, error) {
	if len(data) < 4 {
		return netconf{}, fmt.Errorf("decode an interface's settings: %d bytes are not a netconfmsg", len(data))
	}
	var c netconf
	ad, err := netlink.NewAttributeDecoder(data[4:])
	if err != nil {
		return netconf{}, fmt.Errorf("decode an interface's settings: %w", err)
	}
	for ad.Next() {
		b := ad.Bytes()
		if len(b) < 4 {
			continue
		}
		v := int(int32(binary.NativeEndian.Uint32(b)))
		switch ad.Type() {
		case netconfIndex:
			c.Index = v
		case netconfRPFilter:
			c.RPFilter = &v
		case netconfForwarding:
			c.Forwarding = &v
		}
	}
	if err := ad.Err(); err != nil {
		return netconf{}, fmt.Errorf("decode an interface's settings: %w", err)
	}
	return c, nil
}
