package hls

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"snag/internal/netns"
	"snag/probes/streams/stream"
)

// maxRedirects: a load balancer's and a CDN's, and a few more.
const maxRedirects = 5

// client loads resources of one stream. It keeps no cookies.
type client struct {
	http  *http.Client
	first *url.URL // the stream's, with its credentials
	shown string
	local string // address of this end of the last connection
	peer  string
}

func newClient(u *url.URL, o stream.Options) *client {
	c := &client{first: u, shown: shown(u)}
	dialer := &net.Dialer{Timeout: o.Timeout}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return netns.Dial(ctx, dialer, o.Netns, network, address)
		},
		TLSHandshakeTimeout:    o.Timeout,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
		ReadBufferSize:         16 << 10,
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		if r.URL.Scheme != "http" && r.URL.Scheme != "https" {
			return fmt.Errorf("redirected to a URL of %q, not http or https", r.URL.Scheme)
		}
		return nil
	}}
	return c
}

func (c *client) close() { c.http.CloseIdleConnections() }

// status is an answer other than 200 or 206.
type status struct {
	code int
	text string
}

func (e *status) Error() string { return e.text }

// get asks for a resource, or length bytes of it from from on (all for 0). The
// body is the caller's to close.
func (c *client) get(ctx context.Context, u *url.URL, from, length int64) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errors.New("the URL can't be used")
	}
	r.Header.Set("User-Agent", "snag")
	if length > 0 {
		r.Header.Set("Range", "bytes="+strconv.FormatInt(from, 10)+"-"+strconv.FormatInt(from+length-1, 10))
	} else if from > 0 {
		r.Header.Set("Range", "bytes="+strconv.FormatInt(from, 10)+"-")
	}
	if c.peer == "" {
		r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
			c.local, c.peer = i.Conn.LocalAddr().String(), i.Conn.RemoteAddr().String()
		}}))
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, unanswered(err)
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent {
		resp.Body.Close()
		return nil, &status{code: resp.StatusCode, text: strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode)}
	}
	if resp.StatusCode == http.StatusOK && from > 0 {
		resp.Body.Close()
		return nil, errors.New("the server gives no byte ranges")
	}
	return resp, nil
}

// load reads a small resource whole. It also gives the URL that it came from,
// which relative ones in it are relative to.
func (c *client) load(ctx context.Context, u *url.URL, from, length int64, most int) ([]byte, *url.URL, error) {
	resp, err := c.get(ctx, u, from, length)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, int64(most)+1))
	if err != nil {
		return nil, nil, plain(err)
	}
	if len(b) > most {
		return nil, nil, fmt.Errorf("longer than %d bytes", most)
	}
	return b, resp.Request.URL, nil
}

// join resolves a playlist's URI. Credentials go to the stream's own host only.
func (c *client) join(base *url.URL, uri string) (*url.URL, error) {
	u, err := base.Parse(uri)
	if err != nil {
		return nil, errors.New("a URI in the playlist can't be read")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("a URI in the playlist is of %q, not http or https", u.Scheme)
	}
	if u.User = nil; u.Host == c.first.Host && u.Scheme == c.first.Scheme {
		u.User = c.first.User
	}
	return u, nil
}

// unanswered is plain for a request that got no answer: most often something else
// has the port.
func unanswered(err error) error {
	err = plain(err)
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return fmt.Errorf("%w: the server does not speak TLS here: use http://, or the port of HTTPS", err)
	case errors.As(err, &verify):
		return fmt.Errorf("%w: name the server as its certificate does, or install its authority's certificate (SSL_CERT_FILE)", err)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("the server closed the connection without an answer: is this port for HTTP, and not for HTTPS? (%w)", err)
	}
	return err
}

// plain takes the URL, with whatever is secret in it, out of an error of net/http,
// and adds what would help.
func plain(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var named *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &named):
		return fmt.Errorf("%w (is the host's name right?)", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: nothing listens there: is the server up, and the port right?", err)
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no answer in time: is the server up, does a firewall drop this, is the port for HTTP?")
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%w: is the server up, does a firewall drop this?", err)
	case strings.Contains(err.Error(), "malformed HTTP"):
		return errors.New("what answers is not an HTTP server: is the port right?")
	}
	return err
}

// shown is a URL as it may be shown: no user, no values of the query.
func shown(u *url.URL) string {
	s := u.Scheme + "://" + u.Host + u.EscapedPath()
	sep := "?"
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if pair == "" {
			continue
		}
		name, _, ok := strings.Cut(pair, "=")
		if !ok {
			name = "" // may be a token alone
		}
		s, sep = s+sep+name+"=…", "&"
	}
	return s
}
