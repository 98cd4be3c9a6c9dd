package gb28181

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// SIP's timers over UDP (RFC 3261 17.1): a request is sent again after T1, 2 T1 …; of
// others than INVITE after T2 at the most.
const (
	t1 = 500 * time.Millisecond
	t2 = 4 * time.Second
	// ringing is how long a camera may take once it has said that it is at it.
	ringing = 20 * time.Second
)

// transaction is a request that waits for its answers.
type transaction struct {
	answers chan *message
	failed  chan error // the peer's port or connection
}

func newTransaction() *transaction {
	return &transaction{answers: make(chan *message, 16), failed: make(chan error, 1)}
}

func (t *transaction) fail(err error) {
	select {
	case t.failed <- err:
	default:
	}
}

// again is when a request is sent the next time, after it waited for this.
func again(wait time.Duration, invite bool) time.Duration {
	if invite {
		return 2 * wait
	}
	return min(2*wait, t2)
}

// exchange sends a request until its final response comes.
func (p *peer) exchange(ctx context.Context, m *message) (*message, error) {
	t := newTransaction()
	branch := branchOf(m)
	p.expect(branch, t)
	defer p.forget(branch)
	invite := m.method == "INVITE"
	sent, wait := 0, t1
	over := time.NewTimer(p.timeout)
	defer over.Stop()
	resend := time.NewTimer(0)
	defer resend.Stop()
	at := false // it answered 1xx
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case err := <-t.failed:
			return nil, unreachable(m, err)
		case <-over.C:
			return nil, silent(m, p.timeout, sent, at)
		case <-resend.C:
			if err := p.conn.send(m); err != nil {
				return nil, unreachable(m, err)
			}
			sent++
			if !p.conn.tcp {
				resend.Reset(wait)
				wait = again(wait, invite)
			}
		case answer := <-t.answers:
			if answer.status >= 200 {
				return answer, nil
			}
			if !at {
				at = true
				over.Reset(ringing)
			}
			if invite {
				resend.Stop()
			}
		}
	}
}

func unreachable(m *message, err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("send %s: nothing listens at its UDP port (is it running, is this its SIP port, and does it speak SIP over TCP: ?transport=tcp)", m.method)
	}
	return fmt.Errorf("send %s: %w", m.method, err)
}

func silent(m *message, timeout time.Duration, sent int, at bool) error {
	if at {
		return fmt.Errorf("%s was answered with a provisional response, and with no final one within %s", m.method, ringing)
	}
	return fmt.Errorf("no answer to %s within %s, sent %d times (is its SIP port right, does it speak SIP over this transport, and is no firewall between?)", m.method, timeout, sent)
}
