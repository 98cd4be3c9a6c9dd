package load

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"snag/load/protocol"
)

// corked sends what is written after the handshake in one segment when it is closed.
type corked struct {
	net.Conn
	cork bool
	kept bytes.Buffer
}

func (c *corked) Write(b []byte) (int, error) {
	if c.cork {
		return c.kept.Write(b)
	}
	return c.Conn.Write(b)
}

func (c *corked) Close() error {
	_ = c.SetWriteDeadline(time.Time{}) // crypto/tls has set one that is over
	_, _ = c.Conn.Write(c.kept.Bytes())
	return c.Conn.Close()
}

// An answer that comes together with the end of TLS (close_notify) is an answer. Of TLS 1.2 crypto/tls returns both
// at once.
func TestAnAnswerWithTheEndOfTLS(t *testing.T) {
	own, err := protocol.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	address := serving(t, func(raw net.Conn) {
		under := &corked{Conn: raw}
		c := tls.Server(under, &tls.Config{Certificates: []tls.Certificate{own}, MaxVersion: tls.VersionTLS12})
		if c.Handshake() == nil {
			_, _ = c.Read(make([]byte, 4096))
			under.cork = true
			_, _ = c.Write([]byte(anAnswer))
		}
		c.Close()
	})
	p := plan(target(t, "https://"+address+"/", Request{Insecure: true}))
	p.Rate, p.For = 50, 400*time.Millisecond
	r, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Done != r.Sent || r.Sent < 4 || len(r.Lost) > 0 {
		t.Errorf("%d sent, %d answered, lost %v", r.Sent, r.Done, r.Lost)
	}
}
