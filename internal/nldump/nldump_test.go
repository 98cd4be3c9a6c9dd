package nldump

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func u32(v ...uint32) []byte {
	var out []byte
	for _, x := range v {
		out = binary.NativeEndian.AppendUint32(out, x)
	}
	return out
}

func message(kind, flags uint16, seq uint32, data []byte) []byte {
	out := u32(uint32(16 + len(data)))
	out = binary.NativeEndian.AppendUint16(out, kind)
	out = binary.NativeEndian.AppendUint16(out, flags)
	return append(append(out, u32(seq, 0)...), data...)
}

func TestRepliesOfADump(t *testing.T) {
	answer := message(unix.RTM_NEWQDISC, 2, 7, u32(1))
	stale := message(unix.RTM_NEWQDISC, 2, 6, u32(9))
	for _, c := range []struct {
		name   string
		data   []byte
		n      int
		done   bool
		failed string
	}{
		{"two and the end", slices.Concat(answer, stale, answer, message(unix.NLMSG_DONE, 2, 7, u32(0))), 2, true, ""},
		{"more to come", answer, 1, false, ""},
		{"refused", message(unix.NLMSG_ERROR, 0, 7, u32(uint32(0x100000000-int64(unix.EPERM)))), 0, true, "operation not permitted"},
		{"changed", message(unix.RTM_NEWQDISC, 2|unix.NLM_F_DUMP_INTR, 7, u32(1)), 1, false, "it changed"},
		{"torn", answer[:18], 0, false, "a message of 20 bytes in 18"},
	} {
		n := 0
		done, err := EachReply(c.data, 7, func([]byte) { n++ })
		if n != c.n || done != c.done || (err == nil) != (c.failed == "") || err != nil && !strings.Contains(err.Error(), c.failed) {
			t.Errorf("%s: %d replies, done %v, %v", c.name, n, done, err)
		}
	}
}

func FuzzEachReply(f *testing.F) {
	f.Add(message(unix.RTM_NEWQDISC, 2, 7, u32(1)))
	f.Add(message(unix.NLMSG_DONE, 2, 7, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		all := 0
		EachReply(data, 7, func(one []byte) { all += 16 + len(one) })
		if all > len(data) {
			t.Errorf("%d bytes out of %d", all, len(data))
		}
	})
}

// TestDump asks the kernel for the links, of which there is at least lo, and ends a
// dump in its middle.
func TestDump(t *testing.T) {
	c := Dial(unix.NETLINK_ROUTE, make([]byte, ReplyMost))
	defer c.Close()
	n := 0
	count := func([]byte) error { n++; return nil }
	if err := c.Dump(unix.RTM_GETADDR, make([]byte, 8), count); err != nil || n == 0 {
		t.Errorf("%d addresses: %v", n, err)
	}
	n = 0
	err := c.Dump(unix.RTM_GETROUTE, make([]byte, 12), func([]byte) error { n++; return ErrEnough })
	if !errors.Is(err, ErrEnough) || n != 1 {
		t.Errorf("%d routes and %v, want one and ErrEnough", n, err)
	}
	if err := Dial(999, nil).Dump(0, nil, count); err == nil || !strings.Contains(err.Error(), "open a netlink socket") {
		t.Errorf("a protocol that is none: %v", err)
	}
}
