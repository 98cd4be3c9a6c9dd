package knob

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/vishvananda/netlink"

	"snag/remedies/plan"
)

// txQueueLength is how many packets an interface's queue disciplines hold that have
// no limit of their own (pfifo_fast, pfifo; read when they are made).
type txQueueLength struct{}

func (txQueueLength) Valid(t plan.Target, value string) error {
	if err := onDevice(t); err != nil {
		return err
	}
	return whole("txqueuelen", value, 0, 1_000_000)
}

func (txQueueLength) Read(h Host, t plan.Target) (value string, err error) {
	err = h.inside(t, func() error {
		l, err := link(t)
		if err == nil {
			value = strconv.Itoa(l.Attrs().TxQLen)
		}
		return err
	})
	return value, err
}

func (txQueueLength) Write(h Host, t plan.Target, value string) error {
	return h.inside(t, func() error {
		l, err := link(t)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("set %s: %q is not a number", t, value)
		}
		if err := netlink.LinkSetTxQLen(l, n); err != nil {
			return fmt.Errorf("set %s to %s: %w", t, value, err)
		}
		return nil
	})
}

func (txQueueLength) Same(_ plan.Target, a, b string) bool { return a == b }

// link finds the interface of a target in the namespace that the thread is in.
func link(t plan.Target) (netlink.Link, error) {
	l, err := netlink.LinkByName(t.Device)
	if err != nil {
		if errors.As(err, &netlink.LinkNotFoundError{}) {
			return nil, fmt.Errorf("find interface %s: it is gone, or has another name (%w)", t.Device, ErrAbsent)
		}
		return nil, fmt.Errorf("find interface %s: %w", t.Device, err)
	}
	return l, nil
}
