// Package gbtest is a GB/T 28181 platform for tests. It is written from the standard
// and shares nothing with the client: SIP's messages are read and answered by sipgo.
package gbtest

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/emiago/sipgo/sip"
)

// Camera is an item of the catalogue. What is empty is left out.
type Camera struct{ ID, Name, Status, Parental string }

// Platform is one platform. Its fields say how it behaves; they are set before Serve.
type Platform struct {
	ID        string
	User      string // who may register; "": everybody
	Password  string
	Challenge []string // methods that need the password; nil: REGISTER
	Cameras   []Camera
	Each      int                      // items of one message; 0: all
	Hold      int                      // so many items are announced and not sent
	Encode    func(text string) []byte // a document's; nil: UTF-8
	Twice     bool                     // each message of the catalogue comes twice
	Forgets   bool                     // it answers 403 to who is not registered
	Silent    bool                     // it takes queries and sends no catalogue
	Deaf      map[string]int           // so many requests of a method are lost
	Refuse    map[string]int           // final responses, by method, to all of it
	Film      []byte                   // the program stream of each camera
	Lasts     time.Duration            // so long it takes to send the film; 0: no longer than it must
	EndsFilm  bool                     // it sends BYE behind it
	SDP       func(answer string) string
	NoMedia   bool          // it accepts an INVITE and sends nothing
	Slow      time.Duration // from the provisional response to INVITE to the final one

	Address string

	t      *testing.T
	mu     sync.Mutex
	seen   []string
	bodies map[string]string // of the last request, by method
	calls  map[string]*played
	nonce  int
	send   func([]byte) // to who asked last
	known  bool         // somebody registered
	open   []net.Conn
}

// take answers a request; responses are noted.
func (p *Platform) take(m sip.Message, send func([]byte)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.send = send
	req, ok := m.(*sip.Request)
	if !ok {
		r := m.(*sip.Response)
		p.seen = append(p.seen, fmt.Sprintf("%d to %s", r.StatusCode, r.CSeq().MethodName))
		return
	}
	method := string(req.Method)
	if p.Deaf[method] > 0 {
		p.Deaf[method]--
		p.seen = append(p.seen, method+" lost")
		return
	}
	p.seen = append(p.seen, method)
	p.bodies[method] = string(req.Body())
	answer := func(code int, reason string, body []byte, more ...sip.Header) {
		r := sip.NewResponseFromRequest(req, code, reason, body)
		for _, h := range more {
			r.AppendHeader(h)
		}
		send([]byte(r.String()))
	}
	switch {
	case method == "ACK":
		p.acknowledged(req)
	case p.Refuse[method] > 0:
		answer(p.Refuse[method], map[int]string{403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 486: "Busy Here"}[p.Refuse[method]], nil)
	case !p.allowed(req):
		p.nonce++
		answer(401, "Unauthorized", nil, sip.NewHeader("WWW-Authenticate", fmt.Sprintf(`Digest realm="3402000000", nonce="n%d", algorithm=MD5`, p.nonce)))
	case method == "MESSAGE" && p.Forgets && !p.known:
		answer(403, "Forbidden", nil)
	case method == "MESSAGE":
		answer(200, "OK", nil)
		p.message(req, send)
	case method == "INVITE":
		answer(100, "Trying", nil)
		sdp, err := p.invited(req, send)
		if err != nil {
			p.t.Error(err)
			answer(488, "Not Acceptable Here", nil)
			return
		}
		final := func() {
			answer(200, "OK", []byte(sdp), sip.NewHeader("Contact", "<sip:"+p.ID+"@"+p.Address+">"), sip.NewHeader("Content-Type", "application/sdp"))
		}
		if p.Slow > 0 {
			time.AfterFunc(p.Slow, final)
		} else {
			final()
		}
	case method == "REGISTER":
		p.known = true
		answer(200, "OK", nil)
	case method == "BYE":
		p.ended(req)
		answer(200, "OK", nil)
	default:
		answer(200, "OK", nil)
	}
}
