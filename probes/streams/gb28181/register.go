package gb28181

import (
	"context"
	"strconv"
	"time"
)

// A registration is for an hour, and renewed at half of it; a platform takes a client
// for lost from which it hears nothing for three times 60 s (9.6).
const (
	expires        = 3600
	keepaliveEvery = 60 * time.Second
	mostSilent     = 2 // keepalives without an answer
)

// registration is the call that registers: all of them share a Call-ID (RFC 3261 10.2).
type registration struct {
	call    *call
	seconds int
	at      time.Time
}

// register registers for so many seconds; 0 ends it.
func (p *peer) register(ctx context.Context, seconds int) error {
	p.registering.Lock()
	defer p.registering.Unlock()
	r := &p.registered
	if r.call == nil {
		r.call = p.newCall(p.own(), p.own())
	}
	for range 2 {
		own := []field{{"Contact", p.contact()}, {"Expires", strconv.Itoa(seconds)}}
		_, answer, err := p.ask(ctx, r.call, "REGISTER", p.uri(p.address.Device), own, nil)
		if err != nil {
			return err
		}
		least, _ := strconv.Atoi(answer.get("Min-Expires"))
		switch {
		case answer.status < 300:
			r.seconds, r.at = granted(answer, seconds), time.Now()
			return nil
		case answer.status == tooBrief && least > seconds && seconds > 0:
			seconds = least
		default:
			return p.refuses("REGISTER", answer)
		}
	}
	return p.refuses("REGISTER", &message{status: tooBrief, reason: "Interval Too Brief"})
}

// granted is for how long a registrar registered.
func granted(answer *message, asked int) int {
	for _, text := range []string{parameter(answer.get("Contact"), "expires"), answer.get("Expires")} {
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			return n
		}
	}
	return asked
}

// stay keeps the registration until the connection ends. A peer that no longer answers
// has its connection ended, so that all begins anew.
func (p *peer) stay(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	silent := 0
	for {
		select {
		case <-p.gone:
			return
		case <-tick.C:
		}
		if silent = p.alive(silent); silent >= mostSilent {
			p.close()
			return
		}
	}
}

// alive tells the peer that snag is there, and returns how many times in a row it has
// not answered. A peer that does not know snag any more gets a new registration.
func (p *peer) alive(silent int) int {
	ctx := context.Background()
	if p.due() {
		if err := p.register(ctx, expires); err != nil && !isRefusal(err) {
			return silent + 1
		}
	}
	body := keepalive(p.address.ID, strconv.FormatUint(p.number(), 10))
	answer, err := p.tell(ctx, p.address.Device, body)
	switch {
	case err != nil:
		return silent + 1
	case answer.status == forbidden, answer.status == unauthorized:
		if err := p.register(ctx, expires); err != nil && !isRefusal(err) {
			return silent + 1
		}
	}
	return 0
}

// due reports whether half of the registration is over.
func (p *peer) due() bool {
	p.registering.Lock()
	defer p.registering.Unlock()
	return time.Since(p.registered.at) > time.Duration(p.registered.seconds)*time.Second/2
}

// leaving is how long the end of a registration or a dialog is waited for.
const leaving = time.Second

// leave ends the registration and the connection.
func (p *peer) leave() {
	if p.address.Register {
		ctx, cancel := context.WithTimeout(context.Background(), leaving)
		defer cancel()
		_ = p.register(ctx, 0) // else it ends by itself
	}
	p.close()
}

// tell sends a MESSAGE with a document to an id (RFC 3428).
func (p *peer) tell(ctx context.Context, id string, body []byte) (*message, error) {
	c := p.newCall(p.own(), p.uri(id))
	_, answer, err := p.ask(ctx, c, "MESSAGE", p.uri(id), []field{{"Content-Type", "Application/MANSCDP+xml"}}, body)
	return answer, err
}
