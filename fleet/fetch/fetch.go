// Package fetch gets what other hosts recorded: from snag serve on each, or from folders that have their rings.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snag/internal/private"
	"snag/internal/shown"
	"snag/recorder"
	"snag/recording"
)

// Source says where the recordings of a host are: the URL of snag serve there, as https://{address}:9849, or the folder
// of its ring, as /srv/rings/{host}.
type Source struct {
	template string
	headers  http.Header
	http     http.Client
}

// Bounds of one recording.
const (
	mostBytes = 256 << 20
	mostTime  = 2 * time.Minute
)

// New reads a template. ca is a file with the authority of the hosts' certificates; "" are the system's.
func New(template string, headers http.Header, ca string) (*Source, error) {
	s := &Source{template: template, headers: headers}
	placed := strings.Contains(template, "{host}") || strings.Contains(template, "{address}")
	if placed && filepath.IsAbs(template) {
		return s, nil
	}
	if err := checkURL(template, "neither an http:// or https:// URL nor a folder", "https://{address}:9849, or /srv/rings/{host}"); err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		b, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(b) {
			return nil, fmt.Errorf("%s holds no certificate in PEM", ca)
		}
	}
	s.http = http.Client{
		Transport:     &http.Transport{TLSClientConfig: config, ResponseHeaderTimeout: mostTime, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// Get writes what a host recorded in a time into a file. Of several addresses the first that answers is taken.
func (s *Source) Get(ctx context.Context, host string, addresses []string, from, to time.Time, file string) error {
	if !strings.Contains(s.template, "{address}") {
		addresses = []string{""}
	}
	if len(addresses) == 0 {
		return errors.New("no address of it is known")
	}
	var all error
	for _, a := range addresses {
		var err error
		if filepath.IsAbs(s.template) {
			err = fromRing(strings.NewReplacer("{host}", host, "{address}", a).Replace(s.template), host, from, to, file)
		} else {
			err = s.ask(ctx, filled(s.template, host, a), from, to, file)
		}
		if err == nil {
			return nil
		}
		all = errors.Join(all, err)
	}
	return all
}

// fromRing cuts a ring that is a folder here.
func fromRing(dir, host string, from, to time.Time, file string) error {
	if host == "" || strings.ContainsAny(host, "/\x00") || host == "." || host == ".." {
		return fmt.Errorf("the host's name %q is no name of a folder", host)
	}
	r, err := recorder.Ring{Dir: dir}.Read(recording.Time(from.UnixNano()), recording.Time(to.UnixNano()))
	if err != nil {
		return err
	}
	return r.PackTo(file)
}

func (s *Source) ask(ctx context.Context, at string, from, to time.Time, file string) error {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	query := url.Values{"from": {from.UTC().Format(time.RFC3339Nano)}, "to": {to.UTC().Format(time.RFC3339Nano)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(at, "/")+"/recording?"+query.Encode(), nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", at, err)
	}
	for name, values := range s.headers {
		req.Header[name] = values
	}
	resp, err := s.http.Do(req)
	if err != nil {
		var with *url.Error
		if errors.As(err, &with) {
			err = with.Err
		}
		return fmt.Errorf("ask %s: %w", at, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("ask %s: %s", at, refused(resp))
	}
	return private.Put(file, func(w io.Writer) error {
		n, err := io.Copy(w, io.LimitReader(resp.Body, mostBytes+1))
		switch {
		case err != nil:
			return fmt.Errorf("ask %s: after %d bytes: %w", at, n, err)
		case n > mostBytes:
			return fmt.Errorf("ask %s: its recording is longer than %d MB", at, mostBytes>>20)
		}
		return nil
	})
}

// refused is why there is no recording.
func refused(resp *http.Response) string {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 2048)) // what is there of it
	text := shown.Cut(shown.Text(strings.Join(strings.Fields(string(b)), " ")), 200)
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return resp.Status + ": the token is missing or not that host's: --recordings-token-file"
	case text == "":
		return resp.Status
	}
	return resp.Status + ": " + text
}
