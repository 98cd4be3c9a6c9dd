package gb28181

import (
	"errors"
	"fmt"
)

// Responses that are acted on (RFC 3261 21).
const (
	unauthorized      = 401
	forbidden         = 403
	notFound          = 404
	notAllowed        = 405
	proxyAuthRequired = 407
	tooBrief          = 423
	notImplemented    = 501
)

// refusal is a final response that is no success.
type refusal struct {
	status int
	why    string // 404 Not Found to INVITE
	cure   string
}

func (r *refusal) Error() string { return "it answered " + r.why + r.cure }

// refuses says which request was answered how, and what to do.
func (p *peer) refuses(method string, m *message) error {
	cure := ""
	switch m.status {
	case unauthorized, proxyAuthRequired:
		cure = fmt.Sprintf(" although credentials were sent (is the password right, and is snag's id %s known there?)", p.address.ID)
		if p.who() == nil {
			cure = ": give the user and password in the URL (gb28181://USER:PASSWORD@…) or, for a catalogue, in --discover-credentials FILE"
		}
	case forbidden:
		cure = fmt.Sprintf(" (is snag's id %s known there, and its password right? ?id= gives another id)", p.address.ID)
	case notFound:
		cure = " (does it know this id?)"
	case notAllowed, notImplemented:
		if method == "REGISTER" {
			cure = " (if it is a device that takes no registration, add ?register=no)"
		}
	}
	return &refusal{status: m.status, why: fmt.Sprintf("%s to %s", status(m), method), cure: cure}
}

// isRefusal tells a response of the peer's from what failed otherwise.
func isRefusal(err error) bool {
	var r *refusal
	return errors.As(err, &r)
}

// denied tells a peer that may not know snag.
func denied(err error) bool {
	var r *refusal
	return errors.As(err, &r) && (r.status == unauthorized || r.status == forbidden)
}
