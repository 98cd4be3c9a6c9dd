package gb28181

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"snag/internal/netns"
)

// conn carries SIP's messages to one peer and from it: a connected socket, so that
// nobody else's are taken, and a port where nobody listens is known as such.
type conn struct {
	net.Conn
	tcp bool
}

// receiveBuffer is asked for (bytes): a catalogue may come as thousands of messages.
const receiveBuffer = 2 << 20

func dial(ctx context.Context, path string, a Address, timeout time.Duration) (*conn, error) {
	network := "udp"
	if a.TCP {
		network = "tcp"
	}
	c, err := netns.Dial(ctx, &net.Dialer{Timeout: timeout}, path, network, net.JoinHostPort(a.Host, a.Port))
	if err != nil {
		return nil, fmt.Errorf("connect to SIP: %w (is it running, and does this address reach it?)", err)
	}
	if u, ok := c.(*net.UDPConn); ok {
		_ = u.SetReadBuffer(receiveBuffer) // less is still a receiver
	}
	return &conn{Conn: c, tcp: a.TCP}, nil
}

func (c *conn) transport() string {
	if c.tcp {
		return "TCP"
	}
	return "UDP"
}

// local is the address that the peer is to answer to.
func (c *conn) local() netip.AddrPort {
	at := netip.MustParseAddrPort(c.LocalAddr().String())
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// sendTimeout is how long a peer may leave a connection unread.
const sendTimeout = 5 * time.Second

func (c *conn) send(m *message) error {
	_ = c.SetWriteDeadline(time.Now().Add(sendTimeout))
	_, err := c.Write(m.bytes())
	return err
}

// receive gives each message that comes until the connection ends. refused is called
// where nobody listens at the peer's port.
func (c *conn) receive(give func(*message), refused func(error)) error {
	buf := make([]byte, 64<<10)
	if c.tcp {
		return c.stream(buf, give)
	}
	for {
		n, err := c.Read(buf)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			refused(err)
			continue
		case err != nil:
			return err
		}
		if m, _, err := parse(buf[:n], true); err == nil {
			give(m)
		}
	}
}

// stream cuts messages from a TCP connection.
func (c *conn) stream(buf []byte, give func(*message)) error {
	var held []byte
	for {
		n, err := c.Read(buf)
		held = append(held, buf[:n]...)
		for {
			m, used, bad := parse(held, false)
			held = held[used:]
			if errors.Is(bad, errMore) {
				break
			}
			if bad != nil {
				return bad
			}
			give(m)
		}
		if err != nil {
			return err
		}
	}
}
