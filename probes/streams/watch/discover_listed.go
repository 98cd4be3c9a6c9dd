package watch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Lister lists hosts or services that streams are read from, where no server of streams is asked: files, DNS, Consul,
// Kubernetes (fleet/discovery). Each has address, host and port, meta.KEY of what its source says of it, and label.KEY.
type Lister interface {
	// Name says who is asked, without credentials.
	Name() string
	// List asks once.
	List(ctx context.Context) Listed
	// Follow calls on with each list that differs, and with each new error, until ctx ends.
	Follow(ctx context.Context, on func(Listed))
}

// Listed is what a Lister knows at one time. Problems say what of it is missing; Err: why there is no list.
type Listed struct {
	Found    []map[string]string
	Problems []string
	Err      error
}

// listedKinds are the kinds that a Lister is for, beside those of the servers.
var listedKinds = []string{"file", "dns", "kubernetes", "static"}

// NewDiscovery makes a stream of each that a lister lists. words are those after the source: url=TEMPLATE.
func NewDiscovery(l Lister, words []string) (*Discovery, error) {
	d := &Discovery{api: &url.URL{}, web: newAsker(nil), lister: l, kind: kind{label: []string{"address"}}}
	for _, w := range words {
		field, value, _ := strings.Cut(w, "=")
		if field != "url" || value == "" {
			return nil, fmt.Errorf("%q: after the source comes url=TEMPLATE, as url=rtmp://{address}:{port}/live/{meta.KEY}", Clean(hideUser(w), 80))
		}
		d.template = value
	}
	if d.template == "" {
		return nil, fmt.Errorf("%s: write how a stream's URL is made: 'KIND:… url=rtmp://{address}:{port}/live/{meta.KEY}'", l.Name())
	}
	return d, checkTemplate("url", d.template)
}

// take makes entries of a list.
func (d *Discovery) take(l Listed) ([]Entry, []Problem, error) {
	if l.Err != nil {
		return nil, nil, fmt.Errorf("discover %w", l.Err)
	}
	found := make([]vars, 0, len(l.Found))
	for _, v := range l.Found {
		found = append(found, vars(v))
	}
	entries, problems := d.entries(found)
	for _, why := range l.Problems {
		problems = append(problems, Problem{File: d.Name(), Why: why})
	}
	return entries, problems, nil
}

// follow keeps to what a lister says. What is no longer listed is let go after a while, without another list.
func (f *following) follow(ctx context.Context) {
	lists := make(chan Listed)
	go f.d.lister.Follow(ctx, func(l Listed) {
		select {
		case lists <- l:
		case <-ctx.Done():
		}
	})
	t := time.NewTicker(discoverEvery)
	defer t.Stop()
	last := Listed{Err: errNoList}
	for {
		select {
		case <-ctx.Done():
			return
		case l := <-lists:
			f.list(l, time.Now())
			if l.Err == nil {
				last = l
			}
		case now := <-t.C:
			if last.Err == nil {
				f.list(last, now)
			}
		}
	}
}

func (f *following) list(l Listed, now time.Time) {
	entries, problems, err := f.d.take(l)
	f.take(entries, problems, err, now)
}

var errNoList = errors.New("nothing is listed yet")
