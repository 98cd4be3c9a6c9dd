package diag

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

// Unix is a Unix socket.
type Unix struct {
	Type   int // SOCK_STREAM …
	Cookie uint64
	Inode  uint64
	Peer   uint64 // inode of the other end; 0: none, or it may not be seen
	State  string
	Name   string // path, or @name of an abstract one; "" where it is bound to none
	// Bytes that wait to be read; of a listener connections that wait, and how many
	// may. Of the second, bytes that were sent and are not read.
	RecvQ, SendQ int
}

// Sizes and attributes of include/uapi/linux/unix_diag.h.
const (
	unixRequestSize = 24
	unixMessageSize = 16
	unixShow        = 1 | 4 | 16 // UDIAG_SHOW_NAME, PEER, RQLEN
	unixName        = 0
	unixPeer        = 2
	unixQueues      = 4
)

// ErrNoUnix is that the kernel has no sock_diag handler for Unix sockets.
var ErrNoUnix = errors.New("the kernel has no handler for it: modprobe unix_diag")

// DumpUnix calls each for every Unix socket of the namespace in one of the states (a bit
// each).
func (c *Conn) DumpUnix(states uint32, each func(Unix)) error {
	c.seq++
	c.req = appendUnixRequest(c.req[:0], states, c.seq)
	if err := c.send(); err != nil {
		return err
	}
	for {
		b, err := c.datagram()
		if err != nil {
			return fmt.Errorf("dump Unix sockets: %w", err)
		}
		done, err := messages(b, c.seq, nil, func(payload []byte) {
			if u, ok := decodeUnix(payload); ok {
				each(u)
			}
		})
		if errors.Is(err, unix.ENOENT) {
			err = ErrNoUnix
		}
		if err != nil {
			return fmt.Errorf("dump Unix sockets: %w", err)
		}
		if done {
			return nil
		}
	}
}

// appendUnixRequest appends a dump of the states (struct unix_diag_req).
func appendUnixRequest(b []byte, states, seq uint32) []byte {
	n := len(b)
	b = append(b, make([]byte, unix.NLMSG_HDRLEN+unixRequestSize)...)
	h := b[n:]
	binary.LittleEndian.PutUint32(h, unix.NLMSG_HDRLEN+unixRequestSize)
	binary.LittleEndian.PutUint16(h[4:], byFamily)
	binary.LittleEndian.PutUint16(h[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	binary.LittleEndian.PutUint32(h[8:], seq)
	r := h[unix.NLMSG_HDRLEN:]
	r[0] = unix.AF_UNIX
	binary.LittleEndian.PutUint32(r[4:], states)
	binary.LittleEndian.PutUint32(r[12:], unixShow)
	return b
}

// decodeUnix reads struct unix_diag_msg and its attributes.
func decodeUnix(b []byte) (Unix, bool) {
	if len(b) < unixMessageSize || b[0] != unix.AF_UNIX {
		return Unix{}, false
	}
	u := Unix{Type: int(b[1]), State: StateName(int(b[2])), Inode: uint64(u32of(b[4:])), Cookie: u64of(b[8:])}
	b = b[unixMessageSize:]
	for len(b) >= 4 {
		n, kind := int(binary.LittleEndian.Uint16(b)), binary.LittleEndian.Uint16(b[2:])&0x3fff
		if n < 4 || n > len(b) {
			break
		}
		v := b[4:n]
		switch {
		case kind == unixName:
			u.Name = UnixName(v)
		case kind == unixPeer && len(v) >= 4:
			u.Peer = uint64(u32of(v))
		case kind == unixQueues && len(v) >= 8:
			u.RecvQ, u.SendQ = int(u32of(v)), int(u32of(v[4:]))
		}
		b = b[min(len(b), (n+3)&^3):]
	}
	return u, true
}

// UnixName writes what a UNIX socket is bound to: a path as far as its end, or an abstract
// name, whose NULs are @, as ss and /proc/net/unix write them. What can't be printed is ?.
func UnixName(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if b[0] != 0 {
		b, _, _ = bytes.Cut(b, []byte{0})
	}
	name := strings.ReplaceAll(strings.ToValidUTF8(string(b), "?"), "\x00", "@")
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, name)
}
