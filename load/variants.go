package load

import (
	"errors"
	"net/url"
	"strings"

	"snag/load/protocol"
)

// ErrNoVariant is that no such request is known of a target's protocol.
var ErrNoVariant = errors.New("no such request is known of this protocol")

// nowhere is a path that no service has.
const nowhere = "/.snag-asks-for-nothing"

// Nothing is a request to the same service that does as little as its protocol allows, and what it is.
func Nothing(text string, r Request) (t Target, what string, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return t, "", err
	}
	r.Data, r.Messages, r.Split = "", nil, nil
	switch u.Scheme {
	case "http", "https":
		u.Path, u.RawPath, u.RawQuery, r.Method, what = nowhere, "", "", "HEAD", "HEAD of a path that does not exist"
	case "grpc", "grpcs":
		u.Path, what = "/snag.Nothing/Nothing", "a method that does not exist"
	case "redis", "rediss":
		what = "PING"
	case "postgres", "postgresql":
		r.Data, what = ";", "an empty query"
	default:
		return t, "", ErrNoVariant
	}
	t, err = ParseTarget(u.String(), r)
	return t, what, err
}

// padding fills two segments of Ethernet, and fits the headers that servers accept.
const padding = 3000

// Padded is a request to the same service that fills more than one segment.
func Padded(text string, r Request) (t Target, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return t, err
	}
	r.Split = nil
	fill := strings.Repeat("x", padding)
	switch u.Scheme {
	case "http", "https", "grpc", "grpcs":
		r.Headers = append([]string{"X-Snag-Padding: " + fill}, r.Headers...)
	case "redis", "rediss":
		r.Data = "PING " + fill
	case "postgres", "postgresql":
		r.Data = "/* " + fill + " */ ;"
	default:
		return t, ErrNoVariant
	}
	return ParseTarget(text, r)
}

// Secure reports whether the target is asked over TLS.
func (t Target) Secure() bool {
	_, over := t.Protocol.(protocol.TLS)
	return over
}
