package livepage

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"snag/probes/streams/watch"
)

// Address is where the page is served.
type Address struct {
	host, port string
}

// ParseAddress reads what --page takes: :PORT is this host alone, ADDRESS:PORT what it says.
func ParseAddress(text string) (Address, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Address{}, fmt.Errorf("%q: write :8099, which only this host can reach, or ADDRESS:8099", watch.Clean(text, 80))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Address{}, fmt.Errorf("%q: the port is a number from 1 to 65535, as :8099", watch.Clean(text, 80))
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return Address{host, port}, nil
}

func (a Address) String() string { return net.JoinHostPort(a.host, a.port) }

// loopback tells whether only this host can reach it.
func (a Address) loopback() bool {
	if strings.EqualFold(a.host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(a.host)
	return err == nil && ip.Unmap().IsLoopback()
}

// url is what to open in a browser.
func (a Address) url() string {
	host := a.host
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, a.port) + "/"
}

// errHost is a request under a name that is not this server's.
var errHost = errors.New("this page is served under an IP address, localhost or the name that --page was given")

// mayAsk tells whether a request's Host names this server: an IP address, localhost, or the
// name that it was given. Another name may be a page of a stranger that has its name point
// here (DNS rebinding).
func (a Address) mayAsk(host string) error {
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
	return errHost
}
