package drops

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"snag/internal/kernel"
	"snag/recording"
)

// Sizes of struct key and struct value in drops.bpf.c.
const (
	keySize   = 32
	valueSize = 72
)

// entry is one key of the kernel's map of counts with its value, as in
// drops.bpf.c.
type entry struct {
	place  uint64
	inode  uint64
	reason uint32
	netns  uint32
	proto  uint8
	family uint8
	sent   bool
	src    netip.AddrPort // valid when family is 4 or 6
	dst    netip.AddrPort
	n      uint64
	first  int64 // CLOCK_MONOTONIC, ns
	device string
	stack  int32 // id + 1, 0 none
}

// decode reads one entry. Ports are in the key, addresses in the value: the
// addresses are those of the first packet of this kind.
func decode(key, value []byte) (entry, error) {
	if len(key) != keySize || len(value) != valueSize {
		return entry{}, fmt.Errorf("drops: an entry of %d and %d bytes, want %d and %d", len(key), len(value), keySize, valueSize)
	}
	le := binary.LittleEndian
	e := entry{
		place:  le.Uint64(key[0:]),
		inode:  le.Uint64(key[8:]),
		reason: le.Uint32(key[16:]),
		netns:  le.Uint32(key[20:]),
		proto:  key[28],
		family: key[29],
		sent:   key[30] != 0,
		n:      le.Uint64(value[0:]),
		first:  int64(le.Uint64(value[8:])),
		stack:  int32(le.Uint32(value[64:])),
	}
	sport, dport := binary.BigEndian.Uint16(key[24:]), binary.BigEndian.Uint16(key[26:])
	switch e.family {
	case 4:
		e.src = netip.AddrPortFrom(netip.AddrFrom4([4]byte(value[16:20])), sport)
		e.dst = netip.AddrPortFrom(netip.AddrFrom4([4]byte(value[32:36])), dport)
	case 6:
		e.src = netip.AddrPortFrom(netip.AddrFrom16([16]byte(value[16:32])), sport)
		e.dst = netip.AddrPortFrom(netip.AddrFrom16([16]byte(value[32:48])), dport)
	case 0:
	default:
		return entry{}, fmt.Errorf("drops: an entry of IP version %d", e.family)
	}
	name, _, _ := bytes.Cut(value[48:64], []byte{0})
	e.device = string(name)
	return e, nil
}

// names is what turns numbers into names on the running kernel.
type names struct {
	reasons map[uint64]string // nil: this kernel gives no reasons
	symbols *kernel.Symbols   // nil: hidden, places stay addresses
}

// row turns an entry into a row. Its time is the first drop's, within the second
// that was counted; since and until bound it against a clock that failed.
func (nm names) row(e entry, anchor recording.Anchor, since, until recording.Time) recording.Drop {
	d := recording.Drop{
		T:      min(max(anchor.FromMonotonic(e.first), since), until),
		Reason: nm.reason(e.reason),
		Place:  nm.symbols.Name(e.place),
		Netns:  uint64(e.netns),
		Proto:  protoName(e.proto),
		Device: e.device,
		N:      e.n,
		Inode:  e.inode,
		Sent:   e.sent && e.inode != 0,
		Stack:  int(max(e.stack, 0)),
	}
	if e.family != 0 {
		d.Src, d.Dst = endpoint(e.src), endpoint(e.dst)
	}
	d.Benign = Benign(d)
	return d
}

// reason is the kernel's name without its prefix. Reasons of a subsystem have
// its number in the upper half (include/net/dropreason-core.h,
// SKB_DROP_REASON_SUBSYS_MASK) and their names in a module's BTF.
func (nm names) reason(r uint32) string {
	if nm.reasons == nil {
		return ""
	}
	if name, ok := nm.reasons[uint64(r)]; ok {
		return strings.TrimPrefix(name, "SKB_DROP_REASON_")
	}
	if r>>16 != 0 {
		return fmt.Sprintf("SUBSYS_%d_%d", r>>16, r&0xffff)
	}
	return "REASON_" + strconv.Itoa(int(r))
}

// endpoint is address:port; an address alone where there are no ports. An IPv4
// address mapped into IPv6 is written as IPv4, as sockets' tables have it.
func endpoint(a netip.AddrPort) string {
	addr := a.Addr().Unmap()
	if a.Port() == 0 {
		return addr.String()
	}
	return netip.AddrPortFrom(addr, a.Port()).String()
}

// protoName is the name of an IP protocol number in /etc/protocols.
func protoName(p uint8) string {
	switch p {
	case 0:
		return ""
	case 1:
		return "icmp"
	case 2:
		return "igmp"
	case 6:
		return "tcp"
	case 17:
		return "udp"
	case 58:
		return "icmp6"
	case 132:
		return "sctp"
	}
	return strconv.Itoa(int(p))
}

// frames turns the addresses of a stack, innermost first, into names. The first
// frames may be the tracepoint's own; the rest of a short stack is zeros.
func (nm names) frames(addrs []uint64) []string {
	var out []string
	for _, a := range addrs {
		if a == 0 {
			break
		}
		name := nm.symbols.Name(a)
		if len(out) == 0 && isTracing(name) {
			continue
		}
		out = append(out, name)
	}
	return out
}

func isTracing(name string) bool {
	return strings.HasPrefix(name, "bpf_") || strings.HasPrefix(name, "__bpf_trace_") ||
		strings.HasPrefix(name, "__traceiter_") || strings.HasPrefix(name, "trace_")
}
