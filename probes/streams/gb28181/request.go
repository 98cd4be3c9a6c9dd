package gb28181

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"snag/internal/httpauth"
)

// call is a request in the making, and its numbers: all requests of a dialog share them.
type call struct {
	id, from, to string // Call-ID; From with its tag; To
	seq          int
	routes       []string
}

func (p *peer) newCall(from, to string) *call {
	return &call{id: rand.Text() + "@" + p.local.Addr().WithZone("").String(), from: fmt.Sprintf("<%s>;tag=%s", from, rand.Text()[:12]), to: "<" + to + ">"}
}

// request makes the next request of a call, with fields of its own.
func (p *peer) request(c *call, method, uri string, own []field, body []byte) *message {
	c.seq++
	m := &message{method: method, uri: uri, body: body}
	m.add("Via", fmt.Sprintf("SIP/2.0/%s %s;rport;branch=z9hG4bK%s", p.conn.transport(), p.local, rand.Text()))
	for _, r := range c.routes {
		m.add("Route", r)
	}
	m.add("From", c.from)
	m.add("To", c.to)
	m.add("Call-ID", c.id)
	m.add("CSeq", fmt.Sprintf("%d %s", c.seq, method))
	m.add("Max-Forwards", "70")
	m.add("User-Agent", "snag")
	m.fields = append(m.fields, own...)
	return m
}

// ask sends a request, and once more with credentials where these are asked for. The
// answer is the final response, whatever it says.
func (p *peer) ask(ctx context.Context, c *call, method, uri string, own []field, body []byte) (*message, *message, error) {
	with := own
	for tries := 0; ; tries++ {
		m := p.request(c, method, uri, with, body)
		answer, err := p.exchange(ctx, m)
		if err != nil {
			return m, nil, err
		}
		credentials, ok := p.credentials(answer, method, uri, tries)
		if !ok {
			return m, answer, nil
		}
		if method == "INVITE" {
			p.acknowledge(m, answer)
		}
		with = append(own[:len(own):len(own)], credentials)
	}
}

// credentials answers a challenge (RFC 3261 22). Basic authentication, which would
// show the password, is none of SIP's any more.
func (p *peer) credentials(answer *message, method, uri string, tries int) (field, bool) {
	name, offers := "Authorization", "WWW-Authenticate"
	switch answer.status {
	case unauthorized:
	case proxyAuthRequired:
		name, offers = "Proxy-Authorization", "Proxy-Authenticate"
	default:
		return field{}, false
	}
	user := p.who()
	challenge, ok := httpauth.Choose(answer.all(offers))
	if user == nil || !ok || challenge.Nonce == "" || tries > 0 && !challenge.Stale || tries > 1 {
		return field{}, false
	}
	return field{name, challenge.Answer(user, method, uri, rand.Text(), 1)}, true
}

// status is a response as a person reads it.
func status(m *message) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", m.status, short(m.reason)))
}

func short(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
