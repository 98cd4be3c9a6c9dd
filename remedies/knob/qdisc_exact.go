package knob

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// Exact is a kind whose value as text does not hold all that the kernel reports of it.
type Exact interface {
	// Snapshot is the whole state of what a target is part of; "": the text holds all.
	Snapshot(h Host, t plan.Target) (string, error)
	// Restore puts it back, by the snapshot where nothing but the target was changed since,
	// else by the old value.
	Restore(h Host, t plan.Target, old, snapshot string) error
	// SameSnapshot reports whether two snapshots are one.
	SameSnapshot(a, b string) bool
}

// Snapshot is a qdisc as netlink reports it: kind, handle, and its attributes.
func (qdisc) Snapshot(h Host, t plan.Target) (text string, err error) {
	err = h.withTC(t, func(c tcConn) error {
		f, err := c.find(t)
		if err == nil && !f.text.isDefault && f.handle != 0 && (t.Name == "" || f.kind == "tbf") {
			text = fmt.Sprintf("%s %x %s", f.kind, f.handle, hex.EncodeToString(f.options))
		}
		return err
	})
	return text, err
}

// reported is a snapshot.
type reported struct {
	kind    *qdiscKind
	handle  uint32
	options []byte
}

func parseSnapshot(text string) (r reported, err error) {
	words := strings.Split(text, " ")
	if len(words) != 3 {
		return r, fmt.Errorf("%q is not a qdisc state", text)
	}
	var ok bool
	handle, err1 := strconv.ParseUint(words[1], 16, 32)
	if r.options, err = hex.DecodeString(words[2]); err != nil || err1 != nil {
		return r, fmt.Errorf("%q is not a qdisc state", text)
	}
	r.handle = uint32(handle)
	if r.kind, ok = qdiscKindOf(words[0]); !ok {
		return r, fmt.Errorf("snag can't make a qdisc of the kind %s", words[0])
	}
	return r, nil
}

// again are the attributes that make it: those that were reported, or where a kind's
// report is not what the kernel takes, what was read of it.
func (r reported) again() ([]byte, error) {
	if r.kind.name == "tbf" {
		return tbfAgain(r.options)
	}
	v, err := r.kind.decodeOptions(r.options)
	if err != nil {
		return nil, err
	}
	return r.kind.encodeOptions(v)
}

func (k qdisc) Restore(h Host, t plan.Target, old, snapshot string) error {
	r, err := parseSnapshot(snapshot)
	if err != nil {
		return err
	}
	inText := false
	err = h.withTC(t, func(c tcConn) error {
		f, err := c.find(t)
		if err != nil {
			return err
		}
		if t.Name == "" {
			return c.restoreWhole(f, r)
		}
		if inText = f.handle != r.handle || f.kind != r.kind.name || !sameBut(t.Name, f.text.values, r); inText {
			return nil // another has changed it as well
		}
		return c.send(r, f.handle, f.parent, 0)
	})
	if inText {
		return k.Write(h, t, old)
	}
	return refused("set", t, err)
}

// restoreWhole puts a qdisc in the place of the one that took its place, with the handle
// that it had.
func (c tcConn) restoreWhole(f foundQdisc, r reported) error {
	if err := f.replaceable(c); err != nil {
		return err
	}
	for _, q := range f.all {
		if q.handle == r.handle && q.parent != f.parent {
			return fmt.Errorf("its handle %s is another's now (%s)", handleText(r.handle), q.kind)
		}
	}
	return c.send(r, r.handle, f.parent, netlink.Create|netlink.Replace)
}

func (c tcConn) send(r reported, handle, parent uint32, flags netlink.HeaderFlags) error {
	options, err := r.again()
	if err != nil {
		return err
	}
	e := netlink.NewAttributeEncoder()
	e.String(tcaKind, r.kind.name)
	if len(options) > 0 {
		e.Bytes(tcaOptions, options)
	}
	attributes, err := e.Encode()
	if err != nil {
		return err
	}
	_, err = c.conn.Execute(netlink.Message{Header: netlink.Header{Type: unix.RTM_NEWQDISC, Flags: netlink.Request | netlink.Acknowledge | flags}, Data: append(c.tcmsg(handle, parent), attributes...)})
	return err
}

// sameBut reports whether a qdisc has all its other options as a snapshot had them. The
// burst of a tbf is kept as a time: it is another number of bytes at another rate.
func sameBut(name string, now qdiscValues, r reported) bool {
	then, err := r.kind.decodeOptions(r.options)
	if err != nil {
		return false
	}
	for other, values := range then {
		o, ok := r.kind.option(other)
		if other == name || !ok {
			continue
		}
		if r.kind.name == "tbf" && other == "burst" {
			if !nearBurst(then, now) {
				return false
			}
			continue
		}
		for i := range values {
			if i >= len(now[other]) || !o.near(values[i], now[other][i]) {
				return false
			}
		}
	}
	return true
}

// nearBurst reports whether two bursts may be one, each told in ticks of its own rate.
func nearBurst(a, b qdiscValues) bool {
	if len(a["burst"]) != 1 || len(b["burst"]) != 1 || len(a["rate"]) != 1 || len(b["rate"]) != 1 {
		return false
	}
	tick := 2 * schedTick * (float64(a["rate"][0]) + float64(b["rate"][0])) / 1e9
	return math.Abs(float64(a["burst"][0])-float64(b["burst"][0])) <= 16+tick
}

// SameSnapshot reports whether two reports are one, of a tbf bit by bit.
func (qdisc) SameSnapshot(a, b string) bool {
	x, err1 := parseSnapshot(a)
	y, err2 := parseSnapshot(b)
	return err1 == nil && err2 == nil && x.kind == y.kind && x.handle == y.handle && (x.kind.name != "tbf" || bytes.Equal(x.options, y.options))
}
