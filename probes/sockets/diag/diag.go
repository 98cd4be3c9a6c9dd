// Package diag asks the kernel for its TCP and UDP sockets over NETLINK_SOCK_DIAG
// (include/uapi/linux/inet_diag.h), and decodes what comes back into rows of the
// recording. Decoding is pure; only Conn touches the kernel.
package diag

import (
	"encoding/binary"
	"net/netip"

	"snag/recording"
)

// Sizes of the fixed parts (include/uapi/linux/inet_diag.h), bytes.
const (
	idSize      = 48 // struct inet_diag_sockid
	messageSize = 72 // struct inet_diag_msg
	requestSize = 56 // struct inet_diag_req_v2
)

// States of include/net/tcp_states.h that callers select by.
const (
	Established = 1
	TimeWait    = 6
	Close       = 7
	CloseWait   = 8
	Listen      = 10
)

// AllStates are all states that are worth a row. TIME-WAIT is left out: it has
// no socket any more, there may be many, and sockstat counts them.
const AllStates = (1<<13 - 1) &^ (1 << TimeWait)

// AnyState are all states.
const AnyState = ^uint32(0)

// Found is one socket with what is needed to ask for it again.
type Found struct {
	recording.Socket
	Family byte         // AF_INET or AF_INET6, as the kernel holds it
	ID     [idSize]byte // struct inet_diag_sockid
	Resent int          // idiag_retrans: a half-open connection's SYN-ACKs sent again
}

var stateNames = [...]string{
	1: "ESTABLISHED", 2: "SYN_SENT", 3: "SYN_RECV", 4: "FIN_WAIT1", 5: "FIN_WAIT2", 6: "TIME_WAIT",
	7: "CLOSE", 8: "CLOSE_WAIT", 9: "LAST_ACK", 10: "LISTEN", 11: "CLOSING", 12: "SYN_RECV",
}

// StateName names a state of include/net/tcp_states.h; NEW_SYN_RECV is what the
// kernel calls a half-open connection inside, SYN_RECV what it shows. "" for
// what is no state.
func StateName(s int) string {
	if s < 0 || s >= len(stateNames) {
		return ""
	}
	return stateNames[s]
}

var timerNames = [...]string{1: "on", 2: "keepalive", 3: "timewait", 4: "persist"}

// Addr writes address:port as the recording does: an IPv4 address inside an IPv6
// socket is the IPv4 address, so that both ends of a flow agree.
func Addr(family byte, raw []byte, port uint16) string {
	return netip.AddrPortFrom(IP(family, raw), port).String()
}

// IP reads an address from the first 4 or all 16 bytes.
func IP(family byte, raw []byte) netip.Addr {
	if family == afInet6 {
		return netip.AddrFrom16([16]byte(raw[:16])).Unmap()
	}
	return netip.AddrFrom4([4]byte(raw[:4]))
}

const (
	afInet  = 2
	afInet6 = 10
	tcp     = 6
	udp     = 17
)

func protoName(p byte) string {
	if p == udp {
		return "udp"
	}
	return "tcp"
}

func be16(b []byte) uint16 { return binary.BigEndian.Uint16(b) }
