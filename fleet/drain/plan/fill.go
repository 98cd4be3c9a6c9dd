package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// placeholder is one as {name}. Other braces are left as they are: JSON and awk have them.
var placeholder = regexp.MustCompile(`\{(name|address|host|ip|port|(?:label|meta)\.[A-Za-z0-9_.-]+)\}`)

// Fill puts a peer's values in the place of the placeholders. A label that it does not have is an error.
func (p Peer) Fill(text string) (string, error) {
	var missing error
	out := placeholder.ReplaceAllStringFunc(text, func(found string) string {
		key := found[1 : len(found)-1]
		value, there := p.value(key)
		if !there {
			missing = fmt.Errorf("%s: peer %s has none: add it, or leave it out", found, p.Name)
		}
		return value
	})
	return out, missing
}

func (p Peer) value(key string) (string, bool) {
	host, port := split(p.Address)
	switch key {
	case "name":
		return p.Name, true
	case "host":
		return p.HostName(), true
	case "address":
		return p.Address, p.Address != ""
	case "ip":
		return host, host != ""
	case "port":
		return port, port != ""
	}
	if meta, is := strings.CutPrefix(key, "meta."); is {
		v, there := p.Labels["__meta_"+meta]
		return v, there
	}
	v, there := p.Labels[strings.TrimPrefix(key, "label.")]
	return v, there
}

// fillAll fills several texts in place. The first error counts.
func (p Peer) fillAll(texts ...*string) error {
	for _, t := range texts {
		var err error
		if *t, err = p.Fill(*t); err != nil {
			return err
		}
	}
	return nil
}

// FillAction is an action for a peer.
func (p Peer) FillAction(a Action) (Action, error) {
	var err error
	if a.Run, err = p.FillRun(a.Run); err != nil {
		return a, err
	}
	if a.HTTP, err = p.FillRequest(a.HTTP); err != nil {
		return a, err
	}
	if a.Consul != nil {
		c := *a.Consul
		a.Consul = &c
		err = p.fillAll(&c.URL, &c.Service, &c.Reason, &c.Headers)
	}
	return a, err
}

// FillRun is a command for a peer.
func (p Peer) FillRun(run []string) ([]string, error) {
	run = slices.Clone(run)
	for i := range run {
		if err := p.fillAll(&run[i]); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// FillRequest is a request for a peer; nil of none.
func (p Peer) FillRequest(r *Request) (*Request, error) {
	if r == nil {
		return nil, nil
	}
	out := *r
	return &out, p.fillAll(&out.URL, &out.Headers, &out.Body)
}

// FillLeave is how it is seen that a peer's connections are gone; nil of nothing.
func (p Peer) FillLeave(l *Leave) (*Leave, error) {
	if l == nil {
		return nil, nil
	}
	out := *l
	if err := p.fillAll(&out.Connections, &out.Query); err != nil || l.Metrics == nil {
		return &out, err
	}
	m := *l.Metrics
	m.Labels = map[string]string{}
	for k, v := range l.Metrics.Labels {
		if err := p.fillAll(&v); err != nil {
			return nil, err
		}
		m.Labels[k] = v
	}
	out.Metrics = &m
	return &out, p.fillAll(&m.URL, &m.Headers)
}

// FillReady is how it is seen that a peer works; nil of nothing.
func (p Peer) FillReady(r *Ready) (*Ready, error) {
	if r == nil {
		return nil, nil
	}
	out := *r
	var err error
	if out.Run, err = p.FillRun(r.Run); err != nil {
		return nil, err
	}
	if out.HTTP, err = p.FillRequest(r.HTTP); err != nil {
		return nil, err
	}
	return &out, p.fillAll(&out.TCP)
}
