package knob

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// Attributes of RTM_NEWQDISC, uapi/linux/rtnetlink.h, and its places,
// uapi/linux/pkt_sched.h.
const (
	tcaKind, tcaOptions        = 1, 2
	rootPlace           uint32 = 0xffffffff
	ingressPlace        uint32 = 0xfffffff1
)

// seenQdisc is a qdisc as the kernel tells it. Handle 0: nobody made it.
type seenQdisc struct {
	index          int32 // of the interface
	handle, parent uint32
	kind           string
	options        []byte
}

// tcConn is a socket of rtnetlink about one interface's qdiscs.
type tcConn struct {
	conn  *netlink.Conn
	index int32
}

// withTC opens it in a target's namespace.
func (h Host) withTC(t plan.Target, f func(tcConn) error) error {
	return h.inside(t, func() error {
		l, err := link(t)
		if err != nil {
			return err
		}
		conn, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
		if err != nil {
			return fmt.Errorf("open a rtnetlink socket: %w", err)
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetOption(netlink.ExtendedAcknowledge, true)
		return f(tcConn{conn, int32(l.Attrs().Index)})
	})
}

// tcmsg is struct tcmsg: what a message is about.
func (c tcConn) tcmsg(handle, parent uint32) []byte {
	b := make([]byte, 20)
	binary.NativeEndian.PutUint32(b[4:], uint32(c.index))
	binary.NativeEndian.PutUint32(b[8:], handle)
	binary.NativeEndian.PutUint32(b[12:], parent)
	return b
}

// all are the interface's qdiscs, those that a parent made for itself left out
// (TCQ_F_INVISIBLE).
func (c tcConn) all() ([]seenQdisc, error) {
	replies, err := c.conn.Execute(netlink.Message{Header: netlink.Header{Type: unix.RTM_GETQDISC, Flags: netlink.Request | netlink.Dump}, Data: c.tcmsg(0, 0)})
	if err != nil {
		return nil, fmt.Errorf("list the qdiscs: %w", err)
	}
	var all []seenQdisc
	for _, m := range replies {
		q, err := decodeQdisc(m.Data)
		if err != nil {
			return nil, fmt.Errorf("list the qdiscs: %w", err)
		}
		if q.index == c.index {
			all = append(all, q)
		}
	}
	return all, nil
}

func decodeQdisc(b []byte) (seenQdisc, error) {
	if len(b) < 20 {
		return seenQdisc{}, fmt.Errorf("%d bytes are not a tcmsg", len(b))
	}
	q := seenQdisc{index: int32(binary.NativeEndian.Uint32(b[4:])), handle: binary.NativeEndian.Uint32(b[8:]), parent: binary.NativeEndian.Uint32(b[12:])}
	d, err := netlink.NewAttributeDecoder(b[20:])
	if err != nil {
		return q, err
	}
	for d.Next() {
		switch d.Type() {
		case tcaKind:
			q.kind = d.String()
		case tcaOptions:
			q.options = d.Bytes()
		}
	}
	return q, d.Err()
}

// hasFilters reports whether packets are sorted by filters of a qdisc.
func (c tcConn) hasFilters(handle uint32) (bool, error) {
	replies, err := c.conn.Execute(netlink.Message{Header: netlink.Header{Type: unix.RTM_GETTFILTER, Flags: netlink.Request | netlink.Dump}, Data: c.tcmsg(0, handle)})
	if err != nil {
		return false, fmt.Errorf("list the filters of qdisc %s: %w", handleText(handle), err)
	}
	return len(replies) > 0, nil
}

// qdiscMessage is the payload that makes or changes a qdisc, as tc sends it.
func qdiscMessage(tcmsg []byte, k *qdiscKind, v qdiscValues) ([]byte, error) {
	options, err := k.encodeOptions(v)
	if err != nil {
		return nil, err
	}
	e := netlink.NewAttributeEncoder()
	e.String(tcaKind, k.name)
	if len(options) > 0 {
		e.Bytes(tcaOptions, options)
	}
	attributes, err := e.Encode()
	return append(tcmsg, attributes...), err
}

// change sets options of a qdisc that somebody made; those that are not given stay.
func (c tcConn) change(q seenQdisc, k *qdiscKind, v qdiscValues) error {
	data, err := qdiscMessage(c.tcmsg(q.handle, q.parent), k, v)
	if err != nil {
		return err
	}
	_, err = c.conn.Execute(netlink.Message{Header: netlink.Header{Type: unix.RTM_NEWQDISC, Flags: netlink.Request | netlink.Acknowledge}, Data: data})
	return err
}

// make puts a new qdisc at a place, in place of the one that is there. Where that is of
// the same kind the kernel would only change it, and keep options that are not named:
// a handle that none has makes it a new one (tc_modify_qdisc of sch_api.c).
func (c tcConn) make(f foundQdisc, parent uint32, k *qdiscKind, v qdiscValues) error {
	handle := uint32(0) // the kernel chooses
	if f.parent == parent && f.handle != 0 && f.kind == k.name {
		handle = freeHandle(f.all)
	}
	data, err := qdiscMessage(c.tcmsg(handle, parent), k, v)
	if err != nil {
		return err
	}
	flags := netlink.Request | netlink.Acknowledge | netlink.Create | netlink.Replace
	_, err = c.conn.Execute(netlink.Message{Header: netlink.Header{Type: unix.RTM_NEWQDISC, Flags: flags}, Data: data})
	return err
}

// freeHandle is one that no qdisc of an interface has, of those that the kernel itself
// takes from (qdisc_alloc_handle).
func freeHandle(all []seenQdisc) uint32 {
	for handle := uint32(0x80010000); handle != 0; handle += 0x10000 {
		if !slices.ContainsFunc(all, func(q seenQdisc) bool { return q.handle == handle }) {
			return handle
		}
	}
	return 0
}

// remove takes the root away: the kernel attaches the default again.
func (c tcConn) remove(root seenQdisc) error {
	_, err := c.conn.Execute(netlink.Message{Header: netlink.Header{Type: unix.RTM_DELQDISC, Flags: netlink.Request | netlink.Acknowledge}, Data: c.tcmsg(root.handle, root.parent)})
	return err
}

// handleText writes a handle or class as tc does.
func handleText(h uint32) string {
	if h == rootPlace {
		return "root"
	}
	text := strconv.FormatUint(uint64(h>>16), 16) + ":"
	if h&0xffff != 0 {
		text += strconv.FormatUint(uint64(h&0xffff), 16)
	}
	return text
}

// qdiscPlace is where a target's qdisc hangs.
type qdiscPlace struct {
	parent uint32
	// queue of the interface's mq, whatever its handle is; -1: parent says.
	queue int
}

// placeOf reads Parent and Queue: "root" or nothing, a class as 8001:1, and as :1 or by
// its queue one of mq, the handle of which nobody chose.
func placeOf(t plan.Target) (qdiscPlace, error) {
	switch {
	case t.Queue != nil && t.Parent != "":
		return qdiscPlace{}, fmt.Errorf("%s has both a parent and a queue: name one", t)
	case t.Queue != nil && (*t.Queue < 0 || *t.Queue > 4095):
		return qdiscPlace{}, fmt.Errorf("%s is not a queue", t)
	case t.Queue != nil:
		return qdiscPlace{queue: *t.Queue}, nil
	case t.Parent == "" || t.Parent == "root":
		return qdiscPlace{parent: rootPlace, queue: -1}, nil
	}
	major, minor, ok := strings.Cut(t.Parent, ":")
	if major == "" {
		major = "0"
	}
	a, err1 := strconv.ParseUint(major, 16, 16)
	b, err2 := strconv.ParseUint(minor, 16, 16)
	if !ok || err1 != nil || err2 != nil || b == 0 || a == 0xffff {
		return qdiscPlace{}, fmt.Errorf("%q is not the place of a qdisc: it is root, or a class as 8001:1 (hexadecimal)", t.Parent)
	}
	if a == 0 {
		return qdiscPlace{queue: int(b) - 1}, nil
	}
	return qdiscPlace{parent: uint32(a<<16 | b), queue: -1}, nil
}
