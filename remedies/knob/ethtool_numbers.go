package knob

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mdlayher/netlink"

	"snag/remedies/plan"
)

// ethGroup is a group of numbers that ethtool reads and sets together.
type ethGroup struct {
	what     string // of the driver: "ring"
	get, set uint8  // commands
	header   uint16
	all      []ethNumber
}

// ethNumber is one of a group.
type ethNumber struct {
	Doc
	attr uint16
	// most is the attribute of the driver's own maximum; 0: it tells none.
	most uint16
	// bound is what no driver takes; of a switch 1.
	bound int64
	onOff bool // on or off: one byte
}

// ethNumbers sets one number of a group.
type ethNumbers struct{ *ethGroup }

func (g *ethGroup) find(t plan.Target) (*ethNumber, error) {
	for i := range g.all {
		if g.all[i].Name == t.Name {
			return &g.all[i], nil
		}
	}
	return nil, fmt.Errorf("%s has no %q: it has %s", t.Kind, t.Name, strings.Join(g.names(), ", "))
}

func (g *ethGroup) names() []string {
	var all []string
	for _, n := range g.all {
		all = append(all, n.Name)
	}
	return all
}

func (g ethNumbers) Valid(t plan.Target, value string) error {
	if err := onDevice(t); err != nil {
		return err
	}
	n, err := g.find(t)
	if err != nil {
		return err
	}
	if n.onOff {
		return onOff(t.Kind+" "+t.Name, value)
	}
	return whole(t.Kind+" "+t.Name, value, 0, n.bound)
}

func onOff(name, value string) error {
	if value != "on" && value != "off" {
		return fmt.Errorf("%s is on or off, not %q", name, value)
	}
	return nil
}

func (g ethNumbers) Read(h Host, t plan.Target) (value string, err error) {
	n, err := g.find(t)
	if err != nil {
		return "", err
	}
	err = h.withEthtool(t, func(e ethtool) error {
		all, err := g.read(e, t)
		if err != nil {
			return err
		}
		v, ok := all[n.attr]
		if !ok {
			return fmt.Errorf("read %s: the driver of %s has no such %s (%w)", t, t.Device, g.what, ErrAbsent)
		}
		value = n.text(v)
		return nil
	})
	return value, err
}

func (n *ethNumber) text(v uint64) string {
	switch {
	case !n.onOff:
		return strconv.FormatUint(v, 10)
	case v == 0:
		return "off"
	}
	return "on"
}

// read asks for all numbers of a group, by attribute.
func (g *ethGroup) read(e ethtool, t plan.Target) (map[uint16]uint64, error) {
	replies, err := e.ask(g.get, g.header, t.Device, nil)
	if err != nil {
		return nil, refused("read", t, err)
	}
	if len(replies) != 1 {
		return nil, fmt.Errorf("read %s: ethtool sent %d answers", t, len(replies))
	}
	all, err := decodeNumbers(replies[0].Data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", t, err)
	}
	return all, nil
}

// decodeNumbers reads the attributes of one and of four bytes.
func decodeNumbers(data []byte) (map[uint16]uint64, error) {
	d, err := netlink.NewAttributeDecoder(data)
	if err != nil {
		return nil, err
	}
	all := map[uint16]uint64{}
	for d.Next() {
		switch len(d.Bytes()) {
		case 1:
			all[d.Type()] = uint64(d.Uint8())
		case 4:
			all[d.Type()] = uint64(d.Uint32())
		}
	}
	return all, d.Err()
}

func (g ethNumbers) Write(h Host, t plan.Target, value string) error {
	n, err := g.find(t)
	if err != nil {
		return err
	}
	if err := g.Valid(t, value); err != nil {
		return err
	}
	return h.withEthtool(t, func(e ethtool) error {
		var v uint64
		if n.onOff {
			v = map[string]uint64{"on": 1}[value]
		} else if v, err = strconv.ParseUint(value, 10, 32); err != nil {
			return fmt.Errorf("set %s: %q is not a number", t, value)
		}
		all, err := g.read(e, t)
		if err != nil {
			return err
		}
		if _, ok := all[n.attr]; !ok {
			return fmt.Errorf("set %s: the driver of %s has no such %s (%w)", t, t.Device, g.what, ErrAbsent)
		}
		if most, ok := all[n.most]; ok && n.most != 0 && v > most {
			return fmt.Errorf("set %s to %s: the driver takes %d at most", t, value, most)
		}
		_, err = e.ask(g.set, g.header, t.Device, func(enc *netlink.AttributeEncoder) {
			if n.onOff {
				enc.Uint8(n.attr, uint8(v))
			} else {
				enc.Uint32(n.attr, uint32(v))
			}
		})
		return refused("set", t, err)
	})
}

func (ethNumbers) Same(_ plan.Target, a, b string) bool { return a == b }

// Most is the driver's own maximum of a ring or of channels; false where it tells none.
func Most(h Host, t plan.Target) (most uint64, ok bool, err error) {
	g, known := Kinds[t.Kind].(ethNumbers)
	if !known {
		return 0, false, nil
	}
	n, err := g.find(t)
	if err != nil || n.most == 0 {
		return 0, false, err
	}
	err = h.withEthtool(t, func(e ethtool) error {
		all, err := g.read(e, t)
		if err == nil {
			most, ok = all[n.most]
		}
		return err
	})
	return most, ok, err
}
