// Package web is what snag's own servers share: the address that they listen on, who may ask, and what every answer
// says to a browser. It knows nothing of what they serve.
package web

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"snag/internal/shown"
)

// Address is where a server listens.
type Address struct {
	host, port string
	cert       *x509.Certificate // nil: none
}

// Certified is the address of a server that has a certificate, whose names are its own: no page of a stranger's can
// have them, as the browser would refuse the certificate.
func (a Address) Certified(c *x509.Certificate) Address {
	a.cert = c
	return a
}

// ParseAddress reads an address: :PORT is this host alone, ADDRESS:PORT what it says.
func ParseAddress(text string) (Address, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Address{}, fmt.Errorf("%s: write :8099, which only this host can reach, or ADDRESS:8099", quoted(text))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Address{}, fmt.Errorf("%s: the port is a number from 1 to 65535, as :8099", quoted(text))
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return Address{host: host, port: port}, nil
}

func quoted(text string) string { return strconv.Quote(shown.Cut(shown.Text(text), 80)) }

// Of is where a listener listens.
func Of(l net.Listener) Address {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return Address{}
	}
	return Address{host: host, port: port}
}

func (a Address) String() string { return net.JoinHostPort(a.host, a.port) }

// Port is its number.
func (a Address) Port() string { return a.port }

// Loopback reports whether only this host can reach it.
func (a Address) Loopback() bool {
	if strings.EqualFold(a.host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(a.host)
	return err == nil && ip.Unmap().IsLoopback()
}

// URL is what to open in a browser; scheme is http or https.
func (a Address) URL(scheme string) string {
	host := a.host
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, a.port) + "/"
}

// Listen opens it. what is served, for an error: "the page".
func (a Address) Listen(what string) (net.Listener, error) {
	l, err := net.Listen("tcp", a.String())
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("serve %s at %s: another program has this port: choose another one (ss -ltnp names that program)", what, a)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("serve %s at %s: this host has no such address: write :%s for this host alone", what, a, a.port)
	case err != nil:
		return nil, fmt.Errorf("serve %s at %s: %w: name an address of this host, or none", what, shown.Cut(shown.Text(a.String()), 80), err)
	}
	return l, nil
}

// errHost is a request under a name that is not this server's.
var errHost = errors.New("this server answers under an IP address, localhost, the name that it was given, or one of its certificate")

// MayAsk reports whether a request's Host names this server: an IP address, localhost, the name that it was given, or
// one of its certificate.
// Another name may be a page of a stranger that has its name point here (DNS rebinding).
func (a Address) MayAsk(host string) error {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if _, err := netip.ParseAddr(name); err == nil {
		return nil
	}
	if strings.EqualFold(name, "localhost") || strings.EqualFold(name, a.host) {
		return nil
	}
	if a.cert != nil && a.cert.VerifyHostname(name) == nil {
		return nil
	}
	return errHost
}
