package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"snag/internal/shown"
)

// failure is why an address gives no recording.
type failure struct {
	near int
	text string // one line: the address, what went wrong, what would help
}

func (f *failure) Error() string { return f.text }

// How near an address came to giving the recording.
const (
	nowhere  = iota // nobody is reached
	closed          // a host is, and nobody listens
	shaken          // somebody listens whose certificate or protocol does not fit
	answered        // an answer came
)

func nearness(err error) int {
	var f *failure
	if errors.As(err, &f) {
		return f.near
	}
	return nowhere
}

// unanswered is why no answer came.
func unanswered(at string, err error) error {
	var with *url.Error
	if errors.As(err, &with) {
		err = with.Err
	}
	near, why := reason(err)
	return &failure{near, at + ": " + why}
}

func reason(err error) (near int, why string) {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var network net.Error
	var unknown *net.DNSError
	text := shown.Text(err.Error())
	switch {
	case errors.As(err, &authority):
		return shaken, "its certificate is of an unknown authority (--recordings-ca)"
	case errors.As(err, &name):
		return shaken, fmt.Sprintf("its certificate is not for %s: make one with that name or address, or use {host} or {address} as it has it", name.Host)
	case errors.As(err, &invalid):
		return shaken, "its certificate is not accepted: " + strings.TrimPrefix(text, "tls: failed to verify certificate: ")
	case strings.Contains(text, "gave HTTP response to HTTPS client"):
		return shaken, "it has no TLS: give its snag serve --tls-cert and --tls-key"
	case strings.Contains(text, "tls: certificate required"), strings.Contains(text, "tls: bad certificate"):
		return shaken, "it wants a certificate that its --client-ca accepts: --recordings-cert, --recordings-key"
	case errors.As(err, &unknown):
		return nowhere, "no address of that name is known here: use {address}"
	case errors.Is(err, syscall.ECONNREFUSED):
		return closed, "nothing listens there: start snag serve on that host"
	case errors.Is(err, context.Canceled):
		return nowhere, "interrupted"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return nowhere, "no answer in time: the host is down, too busy, or a firewall drops the packets"
	}
	return nowhere, text
}

// byCut is how snag serve begins when it has no recording of that time. Anything else with 404 is from another server.
const byCut = "cut the recording of "

// refused is why there is no recording in an answer.
func refused(at string, resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 2048)) // what is there of it
	text := shown.Cut(shown.Text(strings.Join(strings.Fields(string(b)), " ")), 300)
	why := resp.Status
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		why += ": not that host's token (--recordings-token-file)"
	case resp.StatusCode == http.StatusNotFound && strings.HasPrefix(text, byCut):
		_, why, _ = strings.Cut(strings.TrimPrefix(text, byCut), "Z: ") // the times are known
	case resp.StatusCode == http.StatusNotFound:
		why += ": its snag serve is too old for recordings, or another program answers there"
	case resp.StatusCode/100 == 3:
		why += ": it redirects: give the final URL"
	case text != "":
		why += ": " + text
	}
	return &failure{answered, at + ": " + why}
}
