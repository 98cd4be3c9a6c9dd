package nics

import (
	"errors"
	"fmt"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"snag/probes/probe"
)

// tool asks ethtool's generic netlink family in the namespace that it was opened
// in (kernel net/ethtool/netlink.c; 5.6 and later).
type tool struct {
	conn   *genetlink.Conn
	family uint16
}

func openTool() (*tool, error) {
	conn, err := genetlink.Dial(nil)
	if err != nil {
		return nil, fmt.Errorf("open a generic netlink socket: %w", err)
	}
	// The kernel answers within the call; this only keeps a driver from hanging it.
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	family, err := conn.GetFamily(unix.ETHTOOL_GENL_NAME)
	if err != nil {
		conn.Close()
		return nil, &probe.Unavailable{
			Why:  fmt.Sprintf("ask generic netlink for the family ethtool: %v", err),
			Cure: "a kernel from 5.6 on with CONFIG_ETHTOOL_NETLINK=y",
		}
	}
	return &tool{conn, family.ID}, nil
}

func (t *tool) close() { t.conn.Close() }

// ask sends one request. Of all devices at once where dev is "": those that do
// not have what is asked for are left out of the answer.
func (t *tool) ask(command uint8, header uint16, dev string, flags uint32) ([]genetlink.Message, error) {
	e := netlink.NewAttributeEncoder()
	e.Nested(header, func(h *netlink.AttributeEncoder) error {
		if dev != "" {
			h.String(unix.ETHTOOL_A_HEADER_DEV_NAME, dev)
		}
		if flags != 0 {
			h.Uint32(unix.ETHTOOL_A_HEADER_FLAGS, flags)
		}
		return nil
	})
	data, err := e.Encode()
	if err != nil {
		return nil, err
	}
	kind := netlink.Request
	if dev == "" {
		kind |= netlink.Dump
	}
	request := genetlink.Message{Header: genetlink.Header{Command: command, Version: unix.ETHTOOL_GENL_VERSION}, Data: data}
	replies, err := t.conn.Execute(request, t.family, kind)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENODEV) {
		return nil, nil // a driver without it; an interface that has just gone
	}
	if err != nil {
		return nil, fmt.Errorf("ask ethtool for command %d: %w", command, err)
	}
	return replies, nil
}
