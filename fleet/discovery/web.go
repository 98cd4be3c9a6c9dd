package discovery

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	text "snag/internal/shown"
)

// mostAnswer is how long an answer of a server is at most, in bytes.
const mostAnswer = 256 << 20

// shown is what came from elsewhere, for a line of text.
func shown(s string) string { return text.Cut(text.Text(s), 120) }

// options reads a query, of which only these keys are known.
func options(query string, known ...string) (url.Values, error) {
	v, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("what follows ? can't be read: write key=value&key=value, % as %25")
	}
	for key := range v {
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("%s= is not known: there are %s", shown(key), strings.Join(known, "=, ")+"=")
		}
	}
	return v, nil
}

// web asks one server over HTTP.
type web struct {
	base   *url.URL
	client http.Client
	// headers are sent with each question; token is a file with a token for the one that is named, read each time, as
	// Kubernetes renews it.
	header, prefix, token string
}

func newWeb(base *url.URL, dial Dial, ca string) (*web, error) {
	t := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 8, MaxResponseHeaderBytes: 64 << 10, TLSHandshakeTimeout: askTimeout}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("read the certificate authority: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read the certificate authority: %s has no certificate", ca)
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &web{base: base, client: http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// refused is an answer that is not 200.
type refused struct {
	code   int
	status string
	text   string // what the server says, cut
}

func (r *refused) Error() string {
	if r.text != "" {
		return "it answered " + shown(r.status) + ": " + shown(r.text)
	}
	return "it answered " + shown(r.status)
}

// open asks, and returns the answer if it is 200. The caller closes its body.
func (w *web) open(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	at := w.base.JoinPath(path)
	at.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, errors.New("its URL can't be asked")
	}
	req.Header.Set("Accept", "application/json")
	if w.token != "" {
		b, err := os.ReadFile(w.token)
		if err != nil {
			return nil, fmt.Errorf("read the token: %w", err)
		}
		req.Header.Set(w.header, w.prefix+strings.TrimSpace(string(b)))
	}
	resp, err := w.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("it did not answer within %s", askTimeout)
		}
		return nil, fmt.Errorf("%w (is it running, and does this address reach it?)", err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return nil, &refused{resp.StatusCode, resp.Status, says(b)}
	}
	return resp, nil
}

// says is the message of an error: Kubernetes sends a Status, Consul a line.
func says(b []byte) string {
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(b, &status) == nil && status.Message != "" {
		return status.Message
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	if strings.HasPrefix(line, "<") {
		return ""
	}
	return line
}

// get asks for a document.
func (w *web) get(ctx context.Context, path string, query url.Values, into any) (http.Header, error) {
	resp, err := w.open(ctx, path, query)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body := &io.LimitedReader{R: resp.Body, N: mostAnswer + 1}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		if body.N == 0 {
			return nil, fmt.Errorf("its answer is longer than %d MB: ask for fewer", mostAnswer>>20)
		}
		return nil, fmt.Errorf("its answer can't be read: %w", err)
	}
	return resp.Header, nil
}

// labelName is a name as a label may have it (Prometheus' util/strutil.SanitizeLabelName).
func labelName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}
