package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"snag/probes/streams/gb28181"
)

// What a server's answers may cost.
const (
	maxAnswer   = 8 << 20 // bytes of one answer
	maxPages    = 50      // of an API that gives its streams page by page, or application by application
	askTimeout  = 5 * time.Second
	askAll      = 30 * time.Second // all answers of one round together
	maxShownWhy = 200              // characters of a server's own words
)

// Discovery asks a server which streams it carries.
type Discovery struct {
	kind     kind
	api      *url.URL // without credentials
	template string
	web      *asker
	lister   Lister // nil: a server of streams is asked
	layers   Layers
	inside   string         // path of the network namespace; "": snag's own
	cameras  []gb28181.Item // of the last catalogue
}

// ParseDiscovery reads what --discover takes: KIND:URL, and after a blank
// url=TEMPLATE where the streams are read elsewhere than the kind's servers
// usually have them.
func ParseDiscovery(spec string) (*Discovery, error) {
	words, err := Words(spec)
	if err != nil || len(words) == 0 {
		return nil, fmt.Errorf("%q: write KIND:URL, as nginx:http://host:8080/stat", Clean(hideUser(spec), 80))
	}
	name, raw, ok := strings.Cut(words[0], ":")
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if !ok || at < 0 {
		return nil, fmt.Errorf("%q: write KIND:URL, KIND one of %s", Clean(hideUser(spec), 80), kindNames())
	}
	d := &Discovery{kind: kinds[at], template: kinds[at].template}
	parse := d.kind.parse
	if parse == nil {
		parse = webURL
	}
	if d.api, err = parse(raw); err != nil {
		return nil, fmt.Errorf("%s: after %s: comes %w", Clean(hideUser(raw), 80), name, err)
	}
	d.web = newAsker(d.api.User)
	d.api.User = nil
	if d.api.Path == "" || d.api.Path == "/" {
		d.api.Path = d.kind.path
	}
	if name == "antmedia" && antMediaApp(d.api) == "" {
		return nil, fmt.Errorf("%s: its URL names the application: antmedia:http://host:5080/live", ShownURL(d.api))
	}
	for _, w := range words[1:] {
		field, value, _ := strings.Cut(w, "=")
		if field != "url" || value == "" {
			return nil, fmt.Errorf("%q: after the URL comes url=TEMPLATE, as url=rtmp://{host}:1936/{app}/{stream}", Clean(hideUser(w), 80))
		}
		d.template = value
	}
	if d.template == "" {
		return nil, fmt.Errorf("%s: write how a stream's URL is made of a service: '%s url=rtmp://{address}:{port}/live/{meta.stream}'", d.kind.name, Clean(hideUser(words[0]), 120))
	}
	if err := checkTemplate("url", d.template); err != nil {
		return nil, err
	}
	return d, nil
}

// webURL is the URL of an API over HTTP.
func webURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("an http:// or https:// URL")
	}
	return u, nil
}

// Layers has each stream watched at its layers, in place of its URL.
func (d *Discovery) Layers(l Layers) { d.layers = l }

// Name says who is asked, without credentials.
func (d *Discovery) Name() string {
	if d.lister != nil {
		return d.lister.Name()
	}
	return d.kind.name + " " + ShownURL(d.api)
}

// Ask asks once. An error says what the server answered instead; what it said
// before stands then.
func (d *Discovery) Ask(ctx context.Context) ([]Entry, []Problem, error) {
	ctx, cancel := context.WithTimeout(ctx, askAll)
	defer cancel()
	if d.lister != nil {
		return d.take(d.lister.List(ctx))
	}
	if d.kind.ask != nil {
		found, problems, err := d.kind.ask(ctx, d)
		if err != nil {
			return nil, nil, fmt.Errorf("discover %s: %w", d.Name(), err)
		}
		entries, more := d.entries(found)
		return entries, append(problems, more...), nil
	}
	get := func(at *url.URL) ([]byte, error) { return d.web.get(ctx, at) }
	list := d.kind.list
	if list == nil {
		list = d.byPage
	}
	found, cut, err := list(d.api, get)
	if err != nil {
		return nil, nil, fmt.Errorf("discover %s: %w", d.Name(), err)
	}
	if d.kind.of != nil {
		for _, v := range found {
			maps.Copy(v, d.kind.of(d.api))
		}
	}
	entries, problems := d.entries(found)
	if cut {
		problems = append(problems, Problem{File: d.Name(), Why: fmt.Sprintf("it has more streams than %d answers list: only those are watched; give a URL that lists fewer", maxPages)})
	}
	return entries, problems, nil
}

// byPage asks for one page after the other.
func (d *Discovery) byPage(api *url.URL, get func(*url.URL) ([]byte, error)) (found []vars, cut bool, err error) {
	listed := 0
	for n := range maxPages {
		at := api
		if d.kind.page != nil {
			at = d.kind.page(api, n, listed)
		}
		body, err := get(at)
		if err != nil {
			return nil, false, err
		}
		l, err := d.kind.read(body)
		if err != nil {
			return nil, false, err
		}
		found, listed = append(found, l.found...), listed+l.listed
		if l.last(n) {
			return found, false, nil
		}
	}
	return found, true, nil
}
