package diag

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Attributes of an answer (INET_DIAG_…).
const (
	attrInfo      = 2
	attrCong      = 4
	attrSKMemInfo = 7
)

// Indexes into the array of SK_MEMINFO (include/uapi/linux/sock_diag.h).
const (
	memRmem   = 0
	memRcvBuf = 1
	memSndBuf = 3
	memDrops  = 8
)

var errShort = errors.New("it is shorter than struct inet_diag_msg")

// Decode reads one SOCK_DIAG_BY_FAMILY message without its netlink header. proto
// is IPPROTO_TCP or IPPROTO_UDP: the message does not say. Attributes that it
// does not know, or that are cut off, are passed over.
func Decode(b []byte, proto byte) (Found, error) {
	var f Found
	if len(b) < messageSize {
		return f, fmt.Errorf("decode a socket of %d bytes: %w", len(b), errShort)
	}
	f.Family = b[0]
	if f.Family != afInet && f.Family != afInet6 {
		return f, fmt.Errorf("decode a socket: address family %d is neither IPv4 nor IPv6", f.Family)
	}
	copy(f.ID[:], b[4:4+idSize])
	id := f.ID[:]
	local, remote := be16(id[0:]), be16(id[2:])
	f.Proto = protoName(proto)
	f.Local = Addr(f.Family, id[4:20], local)
	if remote != 0 {
		f.Remote = Addr(f.Family, id[20:36], remote)
	}
	f.Cookie = u64of(id[40:])
	f.State = StateName(int(b[1]))
	if proto == udp && b[1] == Close {
		f.State = "UNCONN" // as ss calls a UDP socket without a peer
	}
	if t := int(b[2]); t < len(timerNames) {
		f.Timer = timerNames[t]
	}
	if f.Timer != "" {
		f.TimerNext = float64(u32of(b[52:])) / 1e3
	}
	f.Resent = int(b[3])
	f.RecvQ = int(u32of(b[56:]))
	f.SendQ = int(u32of(b[60:]))
	f.Inode = uint64(u32of(b[68:]))
	decodeAttrs(&f, b[messageSize:])
	return f, nil
}

func decodeAttrs(f *Found, b []byte) {
	for len(b) >= 4 {
		n, kind := int(binary.LittleEndian.Uint16(b)), binary.LittleEndian.Uint16(b[2:])&0x3fff
		if n < 4 || n > len(b) {
			return
		}
		v := b[4:n]
		switch kind {
		case attrInfo:
			if f.Proto == "tcp" && f.State != "LISTEN" {
				f.TCP = decodeTCPInfo(v)
			}
		case attrCong:
			f.Cong = intern(v)
		case attrSKMemInfo:
			f.Rmem = word(v, memRmem)
			f.RcvBuf = word(v, memRcvBuf)
			f.SndBuf = word(v, memSndBuf)
			f.Drops = uint64(uint32(word(v, memDrops)))
		}
		b = b[min(len(b), (n+3)&^3):]
	}
}

func word(b []byte, i int) int {
	if len(b) < 4*i+4 {
		return 0
	}
	return int(u32of(b[4*i:]))
}

// intern saves an allocation a socket: there are few congestion controls.
func intern(b []byte) string {
	for i, c := range b {
		if c == 0 {
			b = b[:i]
			break
		}
	}
	switch string(b) {
	case "cubic":
		return "cubic"
	case "bbr":
		return "bbr"
	case "reno":
		return "reno"
	case "dctcp":
		return "dctcp"
	}
	return string(b)
}

func u32of(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func u64of(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
