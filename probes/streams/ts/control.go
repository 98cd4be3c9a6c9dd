package ts

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// controlSize holds SCM_TIMESTAMPNS (16 bytes) and SO_RXQ_OVFL (4), each behind a
// header of 16 and padded to 8.
const controlSize = 64

// control is what the kernel says of a datagram (socket(7)).
type control struct {
	stamp   int64  // wall clock, ns; 0: not told
	dropped uint32 // datagrams dropped at this socket since it was opened
	counted bool   // dropped is told
}

func readControl(b []byte) (c control) {
	for len(b) >= unix.SizeofCmsghdr {
		size := binary.NativeEndian.Uint64(b)
		level, kind := int32(binary.NativeEndian.Uint32(b[8:])), int32(binary.NativeEndian.Uint32(b[12:]))
		if size < unix.SizeofCmsghdr || size > uint64(len(b)) {
			return c
		}
		body := b[unix.SizeofCmsghdr:size]
		if level == unix.SOL_SOCKET {
			switch {
			case kind == unix.SCM_TIMESTAMPNS && len(body) >= 16:
				c.stamp = int64(binary.NativeEndian.Uint64(body))*1e9 + int64(binary.NativeEndian.Uint64(body[8:]))
			case kind == unix.SO_RXQ_OVFL && len(body) >= 4:
				c.dropped, c.counted = binary.NativeEndian.Uint32(body), true
			}
		}
		b = b[min(uint64(len(b)), (size+7)&^7):]
	}
	return c
}
