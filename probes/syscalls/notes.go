package syscalls

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"

	"snag/probes/sockets/diag"
	"snag/recording"
)

// Kinds of records in the ring, as enum note.
const (
	noteFD   = 1
	notePeek = 2
)

// note is one record: what a descriptor is, or the first bytes of a buffer.
type note struct {
	row    recording.FD // of a peek only PID and FD
	peeked bool
	offset uint64
	bytes  []byte // of the record: good as long as it is
}

// decodeNote reads a record of the kernel side's ring.
func decodeNote(raw []byte, anchor recording.Anchor) (note, bool) {
	if len(raw) < 4 {
		return note{}, false
	}
	switch binary.NativeEndian.Uint32(raw) {
	case noteFD:
		var n kernelFdNote
		if binary.Read(bytes.NewReader(raw), binary.NativeEndian, &n) != nil {
			return note{}, false
		}
		return note{row: fdRow(&n, anchor)}, true
	case notePeek:
		const head = 24
		if len(raw) < head {
			return note{}, false
		}
		n := note{peeked: true, offset: binary.NativeEndian.Uint64(raw[8:])}
		n.row.PID = int(binary.NativeEndian.Uint32(raw[4:]))
		n.row.FD = int(int32(binary.NativeEndian.Uint32(raw[16:])))
		size := int(binary.NativeEndian.Uint32(raw[20:]))
		if size < 0 || size > len(raw)-head {
			return note{}, false
		}
		n.bytes = raw[head : head+size]
		return n, true
	}
	return note{}, false
}

// fdRow is what the kernel side tells of a descriptor. Complete tells the rest.
func fdRow(n *kernelFdNote, anchor recording.Anchor) recording.FD {
	row := recording.FD{T: anchor.FromMonotonic(int64(n.At)), PID: int(n.Pid), FD: int(n.Fd), Inode: n.Inode}
	switch n.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		row.Kind, row.Name = "socket", fmt.Sprintf("socket:[%d]", n.Inode)
		socketRow(&row, n)
	case unix.S_IFIFO:
		row.Kind, row.Name = "pipe", fmt.Sprintf("pipe:[%d]", n.Inode)
	case unix.S_IFREG, unix.S_IFDIR, unix.S_IFLNK:
		row.Kind = "file"
	case unix.S_IFCHR, unix.S_IFBLK:
		row.Kind = "device"
	default:
		row.Kind = "other" // an anonymous inode: its link reports which
	}
	return row
}

func socketRow(row *recording.FD, n *kernelFdNote) {
	switch n.Family {
	case unix.AF_INET, unix.AF_INET6:
	case unix.AF_UNIX:
		row.Proto = "unix"
		return
	case unix.AF_NETLINK:
		row.Proto = "netlink"
		return
	case unix.AF_PACKET:
		row.Proto = "packet"
		return
	default:
		row.Proto = "family " + strconv.Itoa(int(n.Family))
		return
	}
	switch n.Proto {
	case unix.IPPROTO_TCP, unix.IPPROTO_MPTCP:
		row.Proto, row.State = "tcp", diag.StateName(int(n.State))
	case unix.IPPROTO_UDP, unix.IPPROTO_UDPLITE:
		row.Proto = "udp"
	default:
		row.Proto = "ip " + strconv.Itoa(int(n.Proto))
	}
	if n.Lport != 0 {
		row.Local = netip.AddrPortFrom(addressOf(n.Family, n.Laddr), n.Lport).String()
	}
	if n.Rport != 0 {
		row.Remote = netip.AddrPortFrom(addressOf(n.Family, n.Raddr), n.Rport).String()
	}
}

func addressOf(family uint16, raw [16]byte) netip.Addr { return diag.IP(byte(family), raw[:]) }
