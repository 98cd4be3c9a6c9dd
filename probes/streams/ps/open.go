package ps

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

var _ stream.Open = Open

// Open listens where a device was told to send (the address and port of the SDP
// in GB/T 28181's INVITE):
//
//	ps+udp://:30000              RTP over UDP, at every address of this host
//	ps+udp://192.0.2.7:30000     at one
//	ps+tcp://:30000              RTP over TCP, framed by RFC 4571; the device connects
//	ps+tcp://192.0.2.9:30000?setup=active   the same, and snag connects to the device
//
// One sender is read: over TCP the first that connects. It does not speak SIP:
// whoever does must tell the device. setup is said from snag's side, as in the
// INVITE (RFC 4145 4).
func Open(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	o = wire.Defaults(o)
	r := newReceiver(sink)
	r.handOn(o)
	err := receive(ctx, u, r, o)
	r.demux.End()
	if ctx.Err() != nil {
		return nil
	}
	var ended *stream.Ended
	if errors.As(err, &ended) {
		ended.URL = wire.Shown(u)
		return ended
	}
	if wire.InUse(err) {
		err = fmt.Errorf("%w (another program receives there; see ss -lnp)", err)
	}
	return fmt.Errorf("read %s: %w", wire.Shown(u), err)
}

// receive takes what comes by the way that the URL says.
func receive(ctx context.Context, u *url.URL, r *receiver, o stream.Options) error {
	tcp := strings.EqualFold(u.Scheme, "ps+tcp")
	switch setup := u.Query().Get("setup"); {
	case tcp && setup == "active":
		return toDevice(ctx, u, r, o)
	case setup != "" && (setup != "passive" || !tcp):
		return fmt.Errorf("setup=%s: of ps+tcp:// it is active (snag connects to the device) or passive (the device connects), and ps+udp:// has none", setup)
	}
	addr, err := address(u)
	switch {
	case err != nil:
		return err
	case tcp:
		return overTCP(ctx, addr, r, o)
	}
	return overUDP(ctx, addr, r, o)
}

func address(u *url.URL) (netip.AddrPort, error) {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return netip.AddrPort{}, fmt.Errorf("port %q is not a number from 1 to 65535", u.Port())
	}
	if u.Hostname() == "" {
		return netip.AddrPortFrom(netip.Addr{}, uint16(port)), nil
	}
	a, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is not an address: it listens, so give an address of this host, or none (?setup=active connects to a device)", u.Hostname())
	}
	return netip.AddrPortFrom(a, uint16(port)), nil
}

func nobody(port uint16, way string, o stream.Options) error {
	return fmt.Errorf("nobody sent to %s port %d within %s (was the device configured to send there, and is no firewall between?)", way, port, o.Timeout)
}

func overUDP(ctx context.Context, addr netip.AddrPort, r *receiver, o stream.Options) error {
	c, err := wire.ListenUDP(o.Netns, addr, o.Now)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer c.Close()
	return fromSocket(ctx, c, r, o, 0)
}

// fromSocket takes datagrams. Once there were some, silence without any ends it; 0: it
// waits on.
func fromSocket(ctx context.Context, c *wire.UDP, r *receiver, o stream.Options, silence time.Duration) error {
	last, begun := time.Now(), false
	buf := make([]byte, 9216)
	wait := tick
	if o.Every > 0 {
		wait = 2 * time.Millisecond
	}
	for ctx.Err() == nil {
		_ = c.SetReadDeadline(time.Now().Add(wait))
		for {
			n, from, at, err := c.Receive(buf)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return fmt.Errorf("receive: %w", err)
			}
			if n < 12 || buf[0]>>6 != 2 {
				continue
			}
			if !begun {
				begun = true
				r.sink.Published(at, c.LocalAddr().String(), from.String())
			}
			last = time.Now()
			r.packet(at, buf[:n])
		}
		r.tick(o.Now())
		if err := r.hopeless(); err != nil {
			return err
		}
		switch quiet := time.Since(last); {
		case !begun && quiet > o.Timeout:
			return nobody(uint16(c.LocalAddr().(*net.UDPAddr).Port), "UDP", o)
		case begun && silence > 0 && quiet > silence:
			return &stream.Ended{Why: fmt.Sprintf("no packet for %s", silence)}
		}
		rest(ctx, o.Every)
	}
	return nil
}

func overTCP(ctx context.Context, addr netip.AddrPort, r *receiver, o stream.Options) error {
	host := ""
	if addr.Addr().IsValid() {
		host = addr.Addr().String()
	}
	l, err := wire.Listen(o.Netns, net.JoinHostPort(host, strconv.Itoa(int(addr.Port()))))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return fromListener(ctx, l, r, o)
}

// fromListener takes the first connection, and closes the listener.
func fromListener(ctx context.Context, l net.Listener, r *receiver, o stream.Options) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(o.Timeout))
	c, err := l.Accept()
	_ = l.Close() // one sender is read
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nobody(uint16(l.Addr().(*net.TCPAddr).Port), "TCP", o)
	}
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	return fromConnection(ctx, c, r, o)
}

// toDevice connects to a device that was told to wait for it (a=setup:passive in its
// answer to the INVITE).
func toDevice(ctx context.Context, u *url.URL, r *receiver, o stream.Options) error {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 || u.Hostname() == "" {
		return errors.New("setup=active connects to a device: write ps+tcp://DEVICE:PORT?setup=active, as its answer to the INVITE says")
	}
	c, err := wire.Dial(ctx, o.Netns, u.Hostname(), u.Port(), o.Timeout)
	if err != nil {
		return fmt.Errorf("connect: %w (does the device wait there: a=setup:passive in its answer? And is no firewall between?)", err)
	}
	return fromConnection(ctx, c, r, o)
}

// fromConnection takes framed packets until the connection ends.
func fromConnection(ctx context.Context, c net.Conn, r *receiver, o stream.Options) error {
	defer c.Close()
	var f framer
	asked, begun := time.Now(), false
	for ctx.Err() == nil {
		if !begun && time.Since(asked) > o.Timeout {
			return fmt.Errorf("%s is connected and sent no packet within %s (does the device send yet: was the INVITE acknowledged?)", c.RemoteAddr(), o.Timeout)
		}
		_ = c.SetReadDeadline(time.Now().Add(tick))
		n, err := c.Read(f.room())
		at := o.Now()
		f.filled(n)
		for b := f.next(); b != nil; b = f.next() {
			if b[0]>>6 != 2 {
				return errors.New("what comes over TCP is not RTP framed by RFC 4571 (two bytes of length before each packet)")
			}
			if !begun {
				begun = true
				r.sink.Published(at, c.LocalAddr().String(), c.RemoteAddr().String())
			}
			r.packet(at, b)
		}
		r.tick(at)
		if err := r.hopeless(); err != nil {
			return err
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return &stream.Ended{Why: "connection closed by the sender"}
		}
		if n < f.size() {
			rest(ctx, o.Every)
		}
	}
	return nil
}

func rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
