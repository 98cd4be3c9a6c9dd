package fetch

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Links are the addresses of hosts' own pages, as https://{address}:9849 or https://{host}:9849.
type Links struct{ template string }

// ParseLinks reads such a template.
func ParseLinks(template string) (*Links, error) {
	if err := checkURL(template, "no http:// or https:// URL", "https://{address}:9849"); err != nil {
		return nil, err
	}
	return &Links{template}, nil
}

// checkURL refuses what is no URL with the name or the address of a host in it, and one that may hold a secret. An
// error says what it is not, and gives an example.
func checkURL(template, isNot, example string) error {
	u, err := url.Parse(filled(template, "host", "10.0.0.1"))
	switch {
	case !strings.Contains(template, "{host}") && !strings.Contains(template, "{address}"):
		return errors.New("neither {host} nor {address} is in it: write " + example)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New(isNot + ": write " + example)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("a URL with a user, a query or a fragment: the token goes into a file")
	}
	return nil
}

// filled puts a host into a template; an address of IPv6 in brackets.
func filled(template, host, address string) string {
	if strings.Contains(address, ":") {
		address = "[" + address + "]"
	}
	return strings.NewReplacer("{host}", host, "{address}", address).Replace(template)
}

// aName is what a host may be called in a URL: the store's labels may hold anything, and with other characters the
// token could go to another host than the template names.
var aName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9])?$`)

// To is the page of a host; "" where its name or its address, which may be "", are none that a link can have.
func (l *Links) To(host, address string) string {
	if name, port, err := net.SplitHostPort(host); err == nil { // as a scraped target is called
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			host = name
		}
	}
	_, err := netip.ParseAddr(address)
	switch {
	case l.NeedAddress() && err != nil:
		return ""
	case strings.Contains(l.template, "{host}") && !aName.MatchString(host):
		return ""
	}
	return filled(l.template, host, address)
}

// NeedAddress reports whether a link needs the address of its host.
func (l *Links) NeedAddress() bool { return strings.Contains(l.template, "{address}") }
