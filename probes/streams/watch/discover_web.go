package watch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"snag/internal/httpauth"
	"snag/internal/netns"
)

// asker asks one server over HTTP, and says who asks where the server wants to know.
type asker struct {
	client    *http.Client
	user      *url.Userinfo // nil: nobody
	token     string        // of bearer authentication, sent with each request; "": none
	challenge *httpauth.Challenge
	uses      int // of the challenge's nonce
}

func newAsker(user *url.Userinfo) *asker { return &asker{client: askClient(), user: user} }

// askClient follows no redirect to another place: what a server says is asked of
// that server.
func askClient() *http.Client {
	return &http.Client{Timeout: askTimeout, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case req.URL.Host != via[0].URL.Host || len(via) > 3:
			return errors.New("it sends on to another server")
		case via[0].URL.Scheme == "https" && req.URL.Scheme != "https": // credentials go with it
			return errors.New("it sends on to the same server without TLS")
		}
		return nil
	}}
}

// Inside asks from inside the network namespace at path.
func (d *Discovery) Inside(path string) {
	d.inside = path
	d.web.client.Transport = &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return netns.Dial(ctx, &net.Dialer{Timeout: askTimeout}, path, network, address)
		},
	}
}

// get asks for a document. A user's name and password are sent once the server asked
// for them, in the way that it asked: one that takes digests never sees the password.
func (w *asker) get(ctx context.Context, at *url.URL) ([]byte, error) {
	for tries := 0; ; tries++ {
		resp, err := w.send(ctx, at)
		if err != nil {
			return nil, fmt.Errorf("%s (is it running, and does this address reach it?)", Clean(bare(err).Error(), maxShownWhy))
		}
		if denied(resp) && w.answers(resp, tries) {
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // the connection is used again
			resp.Body.Close()
			continue
		}
		body, err := w.body(resp)
		resp.Body.Close()
		return body, err
	}
}

func (w *asker) send(ctx context.Context, at *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, errors.New("the URL can't be asked")
	}
	req.Header.Set("Accept", "application/json, application/xml, text/xml") // Wowza would answer in XML
	switch {
	case w.token != "":
		req.Header.Set("Authorization", "Bearer "+w.token)
	case w.user != nil && w.challenge != nil:
		w.uses++
		req.Header.Set("Authorization", w.challenge.Answer(w.user, http.MethodGet, req.URL.RequestURI(), rand.Text(), w.uses))
	}
	return w.client.Do(req)
}

func denied(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// answers takes what a server that refused wants to know, and reports whether it is to
// be asked once more. One that does not say what it wants gets basic authentication.
func (w *asker) answers(resp *http.Response, tries int) bool {
	if w.user == nil || w.token != "" {
		return false
	}
	offered, ok := httpauth.Choose(resp.Header.Values("WWW-Authenticate"))
	if !ok {
		offered, _ = httpauth.Choose([]string{"Basic"})
	}
	basic := w.challenge != nil && w.challenge.Nonce == "" && offered.Nonce == ""
	if basic || tries > 0 && !offered.Stale || tries > 1 {
		return false // what it asked for was sent
	}
	w.challenge, w.uses = &offered, 0
	return true
}

// body is what a server answered, or why that is no answer.
func (w *asker) body(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case denied(resp):
		also := ""
		if w.user != nil || w.token != "" {
			also = " although credentials were sent"
		}
		return nil, fmt.Errorf("it answered %s%s: give the user in the URL (http://user:password@…) or in --discover-credentials FILE, or allow this address", Clean(resp.Status, 60), also)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered %s: is this the right path?", Clean(resp.Status, 60))
	case err != nil:
		return nil, fmt.Errorf("its answer was cut off: %s", Clean(bare(err).Error(), maxShownWhy))
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("its answer is longer than %d MB", maxAnswer>>20)
	}
	return body, nil
}

// bare takes the URL, and what is secret in it, out of an error of net/http.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// another says what an answer is that is not what was asked for.
func another(body []byte, want string) error {
	text := strings.TrimSpace(string(body[:min(len(body), 400)]))
	is := "another text"
	switch lower := strings.ToLower(text); {
	case text == "":
		is = "nothing"
	case strings.HasPrefix(lower, "<!doctype html"), strings.HasPrefix(lower, "<html"):
		is = "a web page"
	case strings.HasPrefix(text, "<"):
		is = "another XML document"
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		is = "another JSON document"
	}
	return fmt.Errorf("it answered with %s, not %s: it begins %q", is, want, Clean(text, 60))
}
