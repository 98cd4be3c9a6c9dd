package gb28181

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
)

// take takes a message that came.
func (p *peer) take(m *message) {
	if m.status == 0 {
		p.takeRequest(m)
		return
	}
	p.mu.Lock()
	t := p.waiting[branchOf(m)]
	ack := p.acks[callKey(m)]
	p.mu.Unlock()
	switch {
	case t != nil:
		select {
		case t.answers <- m:
		default: // it has enough
		}
	case ack != nil && m.status >= 200:
		ack()
	}
}

// takeRequest answers a request, and then acts on it. One that comes again gets the
// same answer, and is not acted on twice (RFC 3261 17.2.2).
func (p *peer) takeRequest(m *message) {
	if m.method == "ACK" {
		return
	}
	key := branchOf(m) + " " + m.method + " " + m.get("Call-ID")
	p.mu.Lock()
	answer := p.answers.find(key)
	seen := answer != nil
	d := p.dialogs[m.get("Call-ID")]
	if !seen {
		answer = respondTo(m, d != nil)
		p.answers.add(key, answer)
	}
	p.mu.Unlock()
	_ = p.conn.send(answer)
	switch {
	case seen:
	case m.method == "MESSAGE":
		p.document(m.body)
	case m.method == "BYE" && d != nil:
		d.end("the camera's side ended it (BYE)")
	}
}

// respondTo is the response to a request; called reports whether its call is one of ours.
func respondTo(m *message, called bool) *message {
	switch m.method {
	case "BYE":
		if !called {
			return respond(m, 481, "Call/Transaction Does Not Exist")
		}
		fallthrough
	case "MESSAGE", "NOTIFY", "OPTIONS", "INFO":
		return respond(m, 200, "OK")
	}
	return respond(m, notAllowed, "Method Not Allowed")
}

// document gives a part of a catalogue to who asked for it.
func (p *peer) document(body []byte) {
	d, err := readDocument(body)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		for _, to := range p.parts { // whose it is, nobody can tell
			give(to, part{err: err})
		}
		return
	}
	if d.isCatalogue() {
		if to := p.parts[d.SN]; to != nil {
			give(to, part{document: d})
		}
	}
}

// give never waits: who reads keeps up, or misses a part and says so.
func give(to chan<- part, x part) {
	select {
	case to <- x:
	default:
	}
}

// respond makes the response to a request (RFC 3261 8.2.6).
func respond(m *message, code int, reason string) *message {
	r := &message{status: code, reason: reason}
	for _, f := range m.fields {
		if slices.Contains([]string{"via", "from", "call-id", "cseq"}, strings.ToLower(f.name)) {
			r.fields = append(r.fields, f)
		}
	}
	to := m.get("To")
	if parameter(to, "tag") == "" {
		to = fmt.Sprintf("%s;tag=%s", to, rand.Text()[:12])
	}
	r.add("To", to)
	if code == notAllowed {
		r.add("Allow", "ACK, BYE, MESSAGE, NOTIFY, OPTIONS, INFO")
	}
	return r
}
