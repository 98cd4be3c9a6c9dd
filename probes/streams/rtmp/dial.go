package rtmp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"snag/internal/netns"
	"snag/internal/rtmp"
	"snag/probes/streams/stream"
)

// defaultTimeout is stream.Options' own.
const defaultTimeout = 5 * time.Second

// connection is a TCP connection, and TLS over it for RTMPS.
type connection struct {
	net.Conn
	tcp   *net.TCPConn
	paced *paced // under TLS, else nil
}

// dial connects and shakes hands, each within the timeout.
func dial(ctx context.Context, t rtmp.Target, o stream.Options) (*connection, error) {
	timeout := o.Timeout
	c, err := netns.Dial(ctx, &net.Dialer{Timeout: timeout}, o.Netns, "tcp", t.Address())
	if err != nil {
		return nil, fmt.Errorf("read %s: connect to %s: %w", t.Shown, t.Address(), cure(err, timeout))
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		c.Close()
		return nil, fmt.Errorf("read %s: connect to %s: not TCP", t.Shown, t.Address())
	}
	conn := &connection{Conn: c, tcp: tcp}
	if err := conn.shakeHands(ctx, t, timeout); err != nil {
		c.Close()
		return nil, err
	}
	return conn, nil
}

func (c *connection) shakeHands(ctx context.Context, t rtmp.Target, timeout time.Duration) error {
	stop := context.AfterFunc(ctx, func() { c.tcp.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if t.TLS {
		if err := allow(ctx, c.tcp, timeout); err != nil {
			return err
		}
		c.paced = &paced{Conn: c.tcp}
		secure := tls.Client(c.paced, &tls.Config{ServerName: t.Host, MinVersion: tls.VersionTLS12})
		if err := secure.HandshakeContext(ctx); err != nil {
			return fmt.Errorf("read %s: TLS handshake: %w", t.Shown, secureCure(err, timeout))
		}
		c.Conn = secure
	}
	if err := allow(ctx, c.tcp, timeout); err != nil {
		return err
	}
	if err := rtmp.Handshake(c); err != nil {
		return fmt.Errorf("read %s: RTMP handshake: %w", t.Shown, cure(err, timeout))
	}
	return nil
}

// allow gives the next phase its time. When ctx ended it sets a deadline in the
// past, which this may just have moved on.
func allow(ctx context.Context, tcp *net.TCPConn, timeout time.Duration) error {
	tcp.SetDeadline(time.Now().Add(timeout))
	return ctx.Err()
}

// cure adds what would help to an error of the network.
func cure(err error, timeout time.Duration) error {
	var named *net.DNSError
	switch {
	case errors.As(err, &named):
		return fmt.Errorf("%w (is the host's name right?)", err)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return fmt.Errorf("no answer within %v: is the server up, does a firewall drop this, is the port for RTMP? (%w)", timeout, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: nothing listens there: is the server up, and the port right?", err)
	}
	return err
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func secureCure(err error, timeout time.Duration) error {
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.As(err, &record):
		return fmt.Errorf("%w: the server does not speak TLS here: use rtmp://, or the port of RTMPS", err)
	case errors.As(err, &verify):
		return fmt.Errorf("%w: name the server as its certificate does, or install its authority's certificate (SSL_CERT_FILE)", err)
	}
	return cure(err, timeout)
}
