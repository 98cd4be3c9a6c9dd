package knob

import (
	"errors"
	"strings"
	"testing"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/genetlink/genltest"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// card is a network card as ethtool's netlink shows it: here no interface has rings or
// coalescing, so the messages are answered by the test (their form is that of
// Documentation/networking/ethtool-netlink.rst).
type card struct {
	t       *testing.T
	numbers map[uint8]map[uint16]uint64 // by the command that reads them
	refuse  error
}

var setsOf = map[uint8]uint8{
	unix.ETHTOOL_MSG_RINGS_SET: unix.ETHTOOL_MSG_RINGS_GET, unix.ETHTOOL_MSG_COALESCE_SET: unix.ETHTOOL_MSG_COALESCE_GET,
}

func (c *card) answer(g genetlink.Message, _ netlink.Message) ([]genetlink.Message, error) {
	d, err := netlink.NewAttributeDecoder(g.Data)
	if err != nil {
		return nil, err
	}
	get, isSet := setsOf[g.Header.Command]
	if isSet && c.refuse != nil {
		return nil, c.refuse
	}
	for d.Next() {
		switch {
		case d.Type() == 1: // the header, which names the device
			d.Nested(func(h *netlink.AttributeDecoder) error {
				for h.Next() {
					if h.Type() != unix.ETHTOOL_A_HEADER_DEV_NAME || h.String() != "eth0" {
						c.t.Errorf("the header has attribute %d: %q", h.Type(), h.String())
					}
				}
				return h.Err()
			})
		case len(d.Bytes()) == 1:
			c.numbers[get][d.Type()] = uint64(d.Uint8())
		default:
			c.numbers[get][d.Type()] = uint64(d.Uint32())
		}
	}
	if isSet {
		return []genetlink.Message{{}}, nil
	}
	e := netlink.NewAttributeEncoder()
	e.Nested(1, func(h *netlink.AttributeEncoder) error { h.String(unix.ETHTOOL_A_HEADER_DEV_NAME, "eth0"); return nil })
	for attr, v := range c.numbers[g.Header.Command] {
		if attr == unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX && g.Header.Command == unix.ETHTOOL_MSG_COALESCE_GET {
			e.Uint8(attr, uint8(v))
		} else {
			e.Uint32(attr, uint32(v))
		}
	}
	b, err := e.Encode()
	return []genetlink.Message{{Data: b}}, err
}

func (c *card) host() Host {
	h := Real()
	h.ethtool = func() (*genetlink.Conn, error) {
		return genltest.Dial(genltest.ServeFamily(genetlink.Family{ID: 21, Name: unix.ETHTOOL_GENL_NAME, Version: 1}, c.answer)), nil
	}
	return h
}

func newCard(t *testing.T) *card {
	return &card{t: t, numbers: map[uint8]map[uint16]uint64{
		unix.ETHTOOL_MSG_RINGS_GET:    {unix.ETHTOOL_A_RINGS_RX_MAX: 4096, unix.ETHTOOL_A_RINGS_RX: 512, unix.ETHTOOL_A_RINGS_TX_MAX: 4096, unix.ETHTOOL_A_RINGS_TX: 256},
		unix.ETHTOOL_MSG_COALESCE_GET: {unix.ETHTOOL_A_COALESCE_RX_USECS: 50, unix.ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX: 1},
	}}
}

func TestRingsAndCoalescing(t *testing.T) {
	c := newCard(t)
	h := c.host()
	for _, s := range []struct{ kind, name, old, then string }{
		{"ring", "rx", "512", "4096"}, {"ring", "tx", "256", "1024"}, {"coalesce", "adaptive-rx", "on", "off"}, {"coalesce", "rx-usecs", "50", "8"},
	} {
		k, target := Kinds[s.kind], plan.Target{Kind: s.kind, Name: s.name, Device: "eth0"}
		if got, err := k.Read(h, target); got != s.old || err != nil {
			t.Errorf("%s: %q, %v; want %q", target, got, err, s.old)
		}
		if err := k.Write(h, target, s.then); err != nil {
			t.Error(err)
		}
		if got, err := k.Read(h, target); got != s.then || err != nil {
			t.Errorf("%s: %q, %v; want %q", target, got, err, s.then)
		}
	}
	// Setting one leaves the others.
	if c.numbers[unix.ETHTOOL_MSG_RINGS_GET][unix.ETHTOOL_A_RINGS_RX] != 4096 {
		t.Error("the receive ring changed with the send ring")
	}
}

func TestWhatACardRefuses(t *testing.T) {
	rx := plan.Target{Kind: "ring", Name: "rx", Device: "eth0"}
	for want, refuse := range map[string]error{
		"the interface is gone": genltest.Error(int(unix.ENODEV)),
		"its driver can't":      genltest.Error(int(unix.EOPNOTSUPP)),
		"is being changed by":   genltest.Error(int(unix.EBUSY)),
		"run as root":           genltest.Error(int(unix.EPERM)),
		"invalid argument":      genltest.Error(int(unix.EINVAL)),
	} {
		c := newCard(t)
		c.refuse = refuse
		err := Kinds["ring"].Write(c.host(), rx, "1024")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if errors.Is(err, ErrAbsent) != (want == "the interface is gone") {
			t.Errorf("absent: %v", err)
		}
	}
	h := newCard(t).host()
	if err := Kinds["ring"].Write(h, rx, "8192"); err == nil || !strings.Contains(err.Error(), "takes 4096 at most") {
		t.Errorf("above the driver's maximum: %v", err)
	}
	mini := plan.Target{Kind: "ring", Name: "rx-mini", Device: "eth0"}
	if _, err := Kinds["ring"].Read(h, mini); !errors.Is(err, ErrAbsent) {
		t.Errorf("a ring that the driver has not: %v", err)
	}
	if err := Kinds["ring"].Write(h, mini, "5"); !errors.Is(err, ErrAbsent) {
		t.Errorf("a ring that the driver has not: %v", err)
	}
	for target, value := range map[plan.Target]string{
		{Kind: "ring", Name: "rx"}:                              "5",
		{Kind: "ring", Name: "rxx", Device: "eth0"}:             "5",
		{Kind: "ring", Name: "rx", Device: "eth0"}:              "many",
		{Kind: "coalesce", Name: "adaptive-rx", Device: "eth0"}: "1",
		{Kind: "coalesce", Name: "rx-usecs", Device: "eth0"}:    "-1",
		{Kind: "feature", Name: "", Device: "eth0"}:             "on",
		{Kind: "feature", Name: "rx-gro", Device: "eth0"}:       "yes",
	} {
		if Kinds[target.Kind].Valid(target, value) == nil {
			t.Errorf("%s takes %q", target, value)
		}
	}
}
