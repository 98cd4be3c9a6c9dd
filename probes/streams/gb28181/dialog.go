package gb28181

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// dialog is a camera that sends, from the response to INVITE until BYE.
type dialog struct {
	peer   *peer
	call   *call
	target string // where requests of the dialog go (its Contact)
	answer []byte // SDP

	once  sync.Once
	ended chan struct{}
	why   string // before ended is closed
}

// end notes who ended it. It is said once.
func (d *dialog) end(why string) {
	d.once.Do(func() {
		d.why = why
		close(d.ended)
	})
}

// invite has a camera send as the SDP says (RFC 3261 13).
func (p *peer) invite(ctx context.Context, channel, ssrc string, sdp []byte) (*dialog, error) {
	uri := p.uri(channel)
	c := p.newCall(p.own(), uri)
	own := []field{
		{"Contact", p.contact()},
		{"Subject", fmt.Sprintf("%s:%s,%s:0", channel, ssrc, p.address.ID)},
		{"Content-Type", "APPLICATION/SDP"},
	}
	m, answer, err := p.ask(ctx, c, "INVITE", uri, own, sdp)
	switch {
	case err != nil:
		p.abandon(c, m)
		return nil, err
	case answer.status >= 300:
		p.acknowledge(m, answer)
		return nil, p.refuses("INVITE", answer)
	}
	d := p.establish(c, m, answer)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialogs[c.id] = d
	return d, nil
}

// establish makes the dialog that a response accepts (12.1.2), and acknowledges it.
func (p *peer) establish(c *call, m, answer *message) *dialog {
	d := &dialog{peer: p, call: c, target: m.uri, answer: answer.body, ended: make(chan struct{})}
	if to := uriOf(answer.get("Contact")); to != "" {
		d.target = to
	}
	c.to = answer.get("To")
	c.routes = answer.all("Record-Route")
	slices.Reverse(c.routes)
	seq := c.seq
	ack := p.request(c, "ACK", d.target, nil, nil)
	c.seq = seq // an ACK has its INVITE's
	ack.set("CSeq", fmt.Sprintf("%d ACK", seq))
	p.answerWith(answer, ack)
	return d
}

// bye ends the dialog, and waits a moment for the answer.
func (d *dialog) bye() {
	p := d.peer
	p.mu.Lock()
	delete(p.dialogs, d.call.id)
	p.mu.Unlock()
	select {
	case <-d.ended:
		return // the camera's side ended it
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaving)
	defer cancel()
	_, _, _ = p.ask(ctx, d.call, "BYE", d.target, nil, nil) // whether it answers changes nothing
}
