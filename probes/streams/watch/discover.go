package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"snag/internal/netns"
)

// What a server's answer may cost.
const (
	maxAnswer   = 8 << 20 // bytes of one answer
	maxPages    = 50      // of an API that gives its streams page by page
	askTimeout  = 5 * time.Second
	maxShownWhy = 200 // characters of a server's own words
)

// Discovery asks a server which streams it carries.
type Discovery struct {
	kind     kind
	api      *url.URL
	template string
	client   *http.Client
}

// kind is one sort of server.
type kind struct {
	name     string
	template string // where the user gives none; "" asks for one
	path     string // of the API, where the URL that was given has none
	// page is the URL of page n, from 0; nil where all comes at once.
	page func(api *url.URL, n int) *url.URL
	// read takes an answer apart, and tells how many pages there are. It does no I/O.
	read func(body []byte) (found []vars, pages int, err error)
}

// vars are what a template's {names} stand for, of one stream or service.
type vars map[string]string

var kinds = []kind{
	{name: "nginx", template: "rtmp://{host}:1935/{app}/{stream}", path: "/stat", read: readNginx},
	{name: "mediamtx", template: "rtsp://{host}:8554/{stream}", path: "/v3/paths/list", page: mediaMTXPage, read: readMediaMTX},
	{name: "srs", template: "rtmp://{host}:1935/{app}/{stream}", path: "/api/v1/streams", page: srsPage, read: readSRS},
	{name: "consul", read: readConsul},
}

// ParseDiscovery reads what --discover takes: KIND:URL, and after a blank
// url=TEMPLATE where the streams are read elsewhere than the kind's servers
// usually have them.
func ParseDiscovery(spec string) (*Discovery, error) {
	words, err := Words(spec)
	if err != nil || len(words) == 0 {
		return nil, fmt.Errorf("%q: write KIND:URL, as nginx:http://host:8080/stat", Clean(spec, 80))
	}
	name, raw, ok := strings.Cut(words[0], ":")
	d := &Discovery{client: askClient()}
	for _, k := range kinds {
		if k.name == name {
			d.kind, d.template = k, k.template
		}
	}
	if !ok || d.kind.name == "" {
		return nil, fmt.Errorf("%q: write KIND:URL, KIND one of nginx, mediamtx, srs, consul", Clean(hideUser(spec), 80))
	}
	d.api, err = url.Parse(raw)
	if err != nil || d.api.Host == "" || d.api.Scheme != "http" && d.api.Scheme != "https" {
		return nil, fmt.Errorf("%s: after %s: comes an http:// or https:// URL", Clean(hideUser(raw), 80), name)
	}
	if d.api.Path == "" || d.api.Path == "/" {
		d.api.Path = d.kind.path
	}
	for _, w := range words[1:] {
		field, value, _ := strings.Cut(w, "=")
		if field != "url" || value == "" {
			return nil, fmt.Errorf("%q: after the URL comes url=TEMPLATE, as url=rtmp://{host}:1936/{app}/{stream}", Clean(w, 80))
		}
		d.template = value
	}
	if d.template == "" {
		return nil, fmt.Errorf("%s: write how a stream's URL is made of a service: '%s url=rtmp://{address}:{port}/live/{meta.stream}'", d.kind.name, Clean(hideUser(words[0]), 120))
	}
	if err := checkTemplate(d.template); err != nil {
		return nil, err
	}
	return d, nil
}

// askClient follows no redirect to another place: what a server says is asked of
// that server.
func askClient() *http.Client {
	return &http.Client{Timeout: askTimeout, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if req.URL.Host != via[0].URL.Host || len(via) > 3 {
			return errors.New("it sends on to another server")
		}
		return nil
	}}
}

// Inside asks from inside the network namespace at path.
func (d *Discovery) Inside(path string) {
	d.client.Transport = &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return netns.Dial(ctx, &net.Dialer{Timeout: askTimeout}, path, network, address)
		},
	}
}

// Name says who is asked, without credentials.
func (d *Discovery) Name() string { return d.kind.name + " " + ShownURL(d.api) }

// Ask asks once. An error says what the server answered instead; what it said
// before stands then.
func (d *Discovery) Ask(ctx context.Context) ([]Entry, []Problem, error) {
	var found []vars
	pages := 1
	for n := 0; n < min(pages, maxPages); n++ {
		at := d.api
		if d.kind.page != nil {
			at = d.kind.page(d.api, n)
		}
		body, err := d.fetch(ctx, at)
		if err != nil {
			return nil, nil, fmt.Errorf("discover %s: %w", d.Name(), err)
		}
		more, of, err := d.kind.read(body)
		if err != nil {
			return nil, nil, fmt.Errorf("discover %s: %w", d.Name(), err)
		}
		found, pages = append(found, more...), of
	}
	entries, problems := d.entries(found)
	return entries, problems, nil
}

func (d *Discovery) fetch(ctx context.Context, at *url.URL) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, errors.New("the URL can't be asked")
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s (is it running, and does this address reach it?)", Clean(bare(err).Error(), maxShownWhy))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("it answered %s: give the user in the URL (http://user:password@…), or allow this address", Clean(resp.Status, 60))
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
