package trial

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"golang.org/x/sys/unix"

	"snag/load"
	"snag/load/elimination"
)

const (
	bytesTries = 10
	bytesEvery = 20 * time.Millisecond
	// headers of IP and UDP: RFC 791 and RFC 8200, RFC 768.
	headers4, headers6 = 20 + 8, 40 + 8
)

// bytes sends datagrams that fill a packet of the interface and must not be fragmented, and ones of twice that, which
// must be.
func (t *trial) bytes(ctx context.Context) error {
	if !t.live.IsValid() {
		return errors.New("no address is known")
	}
	if u, err := url.Parse(t.URL); err != nil || u.Scheme != "udp" || t.Request.Data != "" {
		return errors.New("the size of this request cannot be chosen")
	}
	out := &elimination.Bytes{}
	small, mtu, _, err := t.sized(ctx, t.Request.Size, unix.IP_PMTUDISC_DO)
	if err != nil {
		return err
	}
	out.Small = small
	head := headers4
	if t.live.Addr().Is6() {
		head = headers6
	}
	if out.FullBytes = mtu - head; out.FullBytes <= t.Request.Size {
		return fmt.Errorf("requests of %d bytes fill a packet already", t.Request.Size)
	}
	out.FragmentedBytes = 2 * out.FullBytes
	if out.Full, _, out.TooLarge, err = t.sized(ctx, out.FullBytes, unix.IP_PMTUDISC_DO); err != nil {
		return err
	}
	if out.Fragmented, _, _, err = t.sized(ctx, out.FragmentedBytes, unix.IP_PMTUDISC_DONT); err != nil {
		return err
	}
	t.m.Bytes = out
	return nil
}

// sized asks with so many bytes, some times. tooLarge: the kernel refused them, as the interface or a hop is too
// narrow.
func (t *trial) sized(ctx context.Context, size, discover int) (out *elimination.Tried, mtu int, tooLarge bool, err error) {
	r := t.Request // its answer is one datagram, of whatever size
	r.Size = size
	target, err := load.ParseTarget(t.URL, r)
	if err != nil {
		return nil, 0, false, err
	}
	o, err := t.talk(ctx, target)
	if err != nil {
		return nil, 0, false, err
	}
	defer o.close()
	level, option, get := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_MTU
	if t.live.Addr().Is6() {
		level, option, get = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_MTU
	}
	err = o.control(func(fd int) (err error) {
		if err := unix.SetsockoptInt(fd, level, option, discover); err != nil {
			return err
		}
		mtu, err = unix.GetsockoptInt(fd, level, get)
		return err
	})
	if err != nil {
		return nil, 0, false, fmt.Errorf("read the path's MTU: %w", err)
	}
	for range bytesTries {
		if err := o.send(); errors.Is(err, unix.EMSGSIZE) {
			tooLarge = true
		} else if err != nil {
			return nil, mtu, tooLarge, err
		}
		pause(ctx, bytesEvery)
	}
	o.await(ctx, min(time.Second, t.Timeout))
	tried := o.tried()
	return &tried, mtu, tooLarge, nil
}
