package load

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// Dial makes a connection with the options set before its handshake.
func (o SocketOptions) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		var set error
		err := c.Control(func(fd uintptr) { set = o.Set(int(fd), network) })
		return errors.Join(err, set)
	}}
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok && o.NoDelay != nil {
		_ = tcp.SetNoDelay(*o.NoDelay) // Go turns it on by itself after the handshake
	}
	return c, nil
}
