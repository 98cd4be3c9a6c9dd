package trial

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"snag/load/elimination"
	"snag/load/protocol"
)

const handshakesOf = 6

// handshakes makes TLS connections, and asks nothing.
func (t *trial) handshakes(ctx context.Context) error {
	over, ok := t.Target.Protocol.(protocol.TLS)
	if !ok || !t.live.IsValid() {
		return errors.New("no address takes connections")
	}
	out := &elimination.Handshake{}
	var took []time.Duration
	for range handshakesOf {
		c, _, err := dial(ctx, t.live, t.Options)
		if err != nil {
			out.Failed, out.Why = out.Failed+1, err.Error()
			continue
		}
		p := parts{}
		if err := p.shake(ctx, c, over.Config, t.Timeout); err != nil {
			out.Failed, out.Why = out.Failed+1, err.Error()
		} else {
			took, out.Trips = append(took, p.tls), p.trips
		}
		c.Close()
	}
	out.Times = timesOf(took)
	t.m.TLS = out
	return nil
}

func (p *parts) shake(ctx context.Context, c net.Conn, config *tls.Config, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := p.logIn(ctx, c, protocol.TLS{Config: config})
	return err
}
