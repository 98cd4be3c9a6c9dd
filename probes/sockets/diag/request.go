package diag

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

const byFamily = 20 // SOCK_DIAG_BY_FAMILY

// extensions asked for: a bit each, attribute number less one.
const extensions = 1<<(attrInfo-1) | 1<<(attrCong-1) | 1<<(attrSKMemInfo-1)

// Kind is one of the kernel's four tables of sockets.
type Kind struct{ Family, Proto byte }

// The four tables.
var (
	TCP4  = Kind{afInet, tcp}
	TCP6  = Kind{afInet6, tcp}
	UDP4  = Kind{afInet, udp}
	UDP6  = Kind{afInet6, udp}
	Kinds = []Kind{TCP4, TCP6, UDP4, UDP6}
)

// appendRequest appends a netlink message: a dump of the states of a kind, or,
// with an id, the one socket.
func appendRequest(b []byte, k Kind, states uint32, id *[idSize]byte, seq uint32) []byte {
	flags := uint16(unix.NLM_F_REQUEST)
	if id == nil {
		flags |= unix.NLM_F_DUMP
	}
	n := len(b)
	b = append(b, make([]byte, unix.NLMSG_HDRLEN+requestSize)...)
	h := b[n:]
	binary.LittleEndian.PutUint32(h, unix.NLMSG_HDRLEN+requestSize)
	binary.LittleEndian.PutUint16(h[4:], byFamily)
	binary.LittleEndian.PutUint16(h[6:], flags)
	binary.LittleEndian.PutUint32(h[8:], seq)
	r := h[unix.NLMSG_HDRLEN:]
	r[0], r[1], r[2] = k.Family, k.Proto, extensions
	binary.LittleEndian.PutUint32(r[4:], states)
	if id != nil {
		copy(r[8:], id[:])
		return b
	}
	return b
}

// TCP tells TCP's tables from UDP's.
func (k Kind) TCP() bool { return k.Proto == tcp }
