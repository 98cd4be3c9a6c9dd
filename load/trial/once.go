package trial

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"snag/load"
	"snag/load/protocol"
)

// parts are what a request on a new connection consisted of.
type parts struct {
	resolve, connect, tls, login, answer time.Duration
	trips                                int           // of the TLS handshake
	info                                 *unix.TCPInfo // at the end; nil: there was no connection
}

func (p parts) whole() time.Duration { return p.resolve + p.connect + p.tls + p.login + p.answer }

// connectWithin is how long a connect may take: its SYN is sent a second time after one second, and a
// third time after three.
const connectWithin = 3500 * time.Millisecond

func dial(ctx context.Context, to netip.AddrPort, o load.SocketOptions) (net.Conn, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	begun := time.Now()
	c, err := o.Dial(ctx, "tcp", to.String())
	return c, time.Since(begun), err
}

// once asks once on a new connection. What it got to is in the parts, also where it fails.
func once(ctx context.Context, to netip.AddrPort, target load.Target, o load.SocketOptions, timeout time.Duration) (p parts, err error) {
	raw, took, err := dial(ctx, to, o)
	if err != nil {
		return p, err
	}
	p.connect = took
	defer raw.Close()
	defer func() { p.info = infoOf(raw) }()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Now()) })
	defer stop()
	c, err := p.logIn(ctx, raw, target.Protocol)
	if err != nil {
		return p, err
	}
	begun := time.Now()
	err = ask(c, target.Protocol.New())
	p.answer = time.Since(begun)
	return p, err
}

// logIn runs what comes before the first request.
func (p *parts) logIn(ctx context.Context, c net.Conn, with protocol.Protocol) (net.Conn, error) {
	if over, ok := with.(protocol.TLS); ok {
		begun := time.Now()
		secure := tls.Client(c, over.Config)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, &handshakeError{err}
		}
		p.tls, p.trips = time.Since(begun), 1
		if secure.ConnectionState().Version < tls.VersionTLS13 {
			p.trips = 2
		}
		c, with = secure, over.Protocol
	}
	inner, ok := with.(protocol.Login)
	if !ok {
		return c, nil
	}
	begun := time.Now()
	c, err := inner.Login(ctx, c)
	p.login = time.Since(begun)
	return c, err
}

// ask sends one request, and waits for its answer.
func ask(c net.Conn, talk protocol.Conversation) error {
	for _, w := range talk.Ask(0) {
		if _, err := c.Write(w); err != nil {
			return err
		}
	}
	if s, ok := talk.(protocol.Silent); ok && s.Silent() {
		return nil
	}
	b := make([]byte, 64<<10)
	for {
		n, err := c.Read(b)
		if err != nil {
			return err
		}
		got, err := talk.Read(b[:n])
		if got.Done > 0 || err != nil {
			return err
		}
		if r, ok := talk.(protocol.Replier); ok {
			if reply := r.Reply(); len(reply) > 0 {
				if _, err := c.Write(reply); err != nil {
					return err
				}
			}
		}
	}
}

func infoOf(c net.Conn) (out *unix.TCPInfo) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	_ = raw.Control(func(fd uintptr) { // a connection that is closed has none
		if i, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			out = i
		}
	})
	return out
}
