// Package fetch gets what other hosts recorded: from snag serve on each, or from folders that have their rings.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Source says where the recordings of a host are: the URL of snag serve there, as https://{address}:9849, or the folder
// of its ring, as /srv/rings/{host}.
type Source struct {
	template string
	headers  http.Header
	http     http.Client
	cut      Cut
}

// Cut cuts a time out of a ring that is a folder here, into a file. The ring may be of another host, and hostile.
type Cut func(ctx context.Context, ring string, from, to time.Time, file string) error

// Bounds of one recording. A minute of a host with 40,000 sockets is 1.2 MB.
const (
	mostBytes = 64 << 20
	mostTime  = 90 * time.Second // snag serve has a minute to cut it
	dialTime  = 3 * time.Second  // to an address that may be of a network which is not reached from here
	shakeTime = 5 * time.Second
)

// Access is how this side and the hosts know each other.
type Access struct {
	Headers   http.Header // with the token
	CA        string      // the file with the authority of the hosts' certificates; "": the system's
	Cert, Key string      // the files of a certificate that the hosts accept (snag serve --client-ca); "": none
}

// New reads a template.
func New(template string, by Access, cut Cut) (*Source, error) {
	s := &Source{template: template, headers: by.Headers, cut: cut}
	placed := strings.Contains(template, "{host}") || strings.Contains(template, "{address}")
	if placed && filepath.IsAbs(template) {
		return s, nil
	}
	if err := checkURL(template, "neither an http:// or https:// URL nor a folder", "https://{address}:9849, or /srv/rings/{host}"); err != nil {
		return nil, err
	}
	if strings.HasPrefix(template, "http://") && by.Headers.Get("Authorization") != "" {
		return nil, errors.New("the token would cross the network in clear: write https://")
	}
	config, err := by.config()
	if err != nil {
		return nil, err
	}
	s.http = http.Client{
		Transport: &http.Transport{
			DialContext:     (&net.Dialer{Timeout: dialTime}).DialContext,
			TLSClientConfig: config, TLSHandshakeTimeout: shakeTime, ResponseHeaderTimeout: mostTime,
			MaxResponseHeaderBytes: 64 << 10, DisableKeepAlives: true, DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// config is that of TLS.
func (by Access) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if by.CA != "" {
		b, err := os.ReadFile(by.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(b) {
			return nil, fmt.Errorf("%s holds no certificate in PEM", by.CA)
		}
	}
	if by.Cert != "" {
		pair, err := tls.LoadX509KeyPair(by.Cert, by.Key)
		if err != nil {
			return nil, fmt.Errorf("read the certificate %s and its key %s: %w", by.Cert, by.Key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Get writes what a host recorded in a time into a file. Of several addresses the first that gives it is taken; the
// error is of the one that came nearest to it.
func (s *Source) Get(ctx context.Context, host string, addresses []string, from, to time.Time, file string) error {
	places, err := s.places(host, addresses)
	if err != nil {
		return err
	}
	var nearest error
	for _, at := range places {
		if filepath.IsAbs(s.template) {
			err = s.cut(ctx, at, from, to, file)
		} else {
			err = s.ask(ctx, at, from, to, file)
		}
		if err == nil {
			return nil
		}
		if nearest == nil || nearness(err) > nearness(nearest) {
			nearest = err
		}
	}
	if n := len(places) - 1; n > 0 {
		return fmt.Errorf("%w (nor by %d more of its addresses)", nearest, n)
	}
	return nearest
}

// places are the URLs or folders that the template names for a host.
func (s *Source) places(host string, addresses []string) (out []string, err error) {
	folder := filepath.IsAbs(s.template)
	if strings.Contains(s.template, "{host}") {
		switch {
		case folder && (host == "" || strings.ContainsAny(host, "/\x00") || host == "." || host == ".."):
			return nil, fmt.Errorf("the host's name %q can't name a folder", host)
		case !folder && !aName.MatchString(host):
			return nil, fmt.Errorf("the host's name %q can't be a part of a URL: use {address}", host)
		}
	}
	if !strings.Contains(s.template, "{address}") {
		addresses = []string{""}
	}
	if len(addresses) == 0 {
		return nil, errors.New("the store has no address that is its alone: use {host}")
	}
	for _, a := range addresses {
		if folder {
			out = append(out, strings.NewReplacer("{host}", host, "{address}", a).Replace(s.template))
		} else {
			out = append(out, filled(s.template, host, a))
		}
	}
	return out, nil
}
