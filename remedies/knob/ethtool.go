package knob

import (
	"errors"
	"fmt"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// ethtool is ethtool's family of generic netlink (kernel net/ethtool/netlink.c; what
// is set here is there since 5.8). The ioctl before it can set a whole group of values
// only, so that two who set different ones would undo each other.
type ethtool struct {
	conn   *genetlink.Conn
	family uint16
}

// withEthtool opens ethtool's socket in a target's namespace.
func (h Host) withEthtool(t plan.Target, f func(ethtool) error) error {
	return h.inside(t, func() error {
		dial := h.ethtool
		if dial == nil {
			dial = func() (*genetlink.Conn, error) { return genetlink.Dial(nil) }
		}
		conn, err := dial()
		if err != nil {
			return fmt.Errorf("open a generic netlink socket: %w", err)
		}
		defer func() { _ = conn.Close() }()
		// The kernel answers within the call, but a driver may reset its card first.
		_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
		_ = conn.SetOption(netlink.ExtendedAcknowledge, true) // the driver's own words on why not
		family, err := conn.GetFamily(unix.ETHTOOL_GENL_NAME)
		if err != nil {
			return fmt.Errorf("ask the kernel for ethtool's netlink: %w (it takes CONFIG_ETHTOOL_NETLINK=y)", err)
		}
		return f(ethtool{conn, family.ID})
	})
}

// ask sends one request about a device; more adds to it. header is the attribute of
// the command's header.
func (e ethtool) ask(command uint8, header uint16, device string, more func(*netlink.AttributeEncoder)) ([]genetlink.Message, error) {
	enc := netlink.NewAttributeEncoder()
	enc.Nested(header, func(h *netlink.AttributeEncoder) error {
		h.String(unix.ETHTOOL_A_HEADER_DEV_NAME, device)
		return nil
	})
	kind := netlink.Request
	if more != nil {
		more(enc)
		kind |= netlink.Acknowledge
	}
	data, err := enc.Encode()
	if err != nil {
		return nil, err
	}
	return e.conn.Execute(genetlink.Message{Header: genetlink.Header{Command: command, Version: unix.ETHTOOL_GENL_VERSION}, Data: data}, e.family, kind)
}

// refused says what an error of netlink means for a setting, and what cures it.
func refused(doing string, t plan.Target, err error) error {
	said := ""
	var op *netlink.OpError
	if errors.As(err, &op) && op.Message != "" {
		said = ": the kernel says: " + op.Message
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENODEV):
		return fmt.Errorf("%s %s: the interface is gone, or has another name (%w)", doing, t, ErrAbsent)
	case errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("%s %s: its driver can't%s (%w)", doing, t, said, unix.EOPNOTSUPP)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("%s %s: it is not permitted: run as root, on the host itself%s (%w)", doing, t, said, unix.EPERM)
	case errors.Is(err, unix.EBUSY):
		return fmt.Errorf("%s %s: it is in use, or is being changed by another: try again%s (%w)", doing, t, said, unix.EBUSY)
	case said != "":
		return fmt.Errorf("%s %s%s (%w)", doing, t, said, op.Err)
	}
	return fmt.Errorf("%s %s: %w", doing, t, err)
}
