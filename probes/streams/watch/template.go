package watch

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"snag/probes/streams/gb28181"
)

// placeholder is a {name} of a template.
var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

var known = map[string]bool{"host": true, "app": true, "stream": true, "address": true, "port": true, "node": true, "service": true, "id": true, "vhost": true, "instance": true, "tags": true, "device": true}

// queryVhost is a virtual host that players name in the query.
const queryVhost = "?vhost"

// What a template does not name, and a stream's URL has all the same.
const (
	ownQuery = "?query" // of gb28181: how its own URL says that it is to be asked
	ownName  = "?name"  // that people know the stream by
)

// checkTemplate reports what is wrong with a template that was given as what=t.
func checkTemplate(what, t string) error {
	for _, p := range placeholder.FindAllString(t, -1) {
		name := p[1 : len(p)-1]
		if !known[name] && !strings.HasPrefix(name, "meta.") && !strings.HasPrefix(name, "label.") {
			return fmt.Errorf("%s=%s: there is no %s: there are {host} {app} {stream} of a server, {vhost} of srs, {instance} of wowza, {device} {port} of gb28181, {address} {port} {node} {service} {id} {tags} {meta.KEY} of consul, {address} {port} {meta.KEY} of file, dns, kubernetes and static, {label.KEY} of a stream that has labels", what, Clean(hideUser(t), 120), p)
		}
	}
	filled := placeholder.ReplaceAllString(t, "1")
	if _, err := NewEntry(filled, ""); err != nil || !strings.Contains(t, "://") {
		return fmt.Errorf("%s=%s is not a URL template: write as rtmp://{host}:1935/{app}/{stream}", what, Clean(hideUser(t), 120))
	}
	return nil
}

// fill makes a URL of a template. What a server said is escaped: a stream's name
// can't become another server, or a query. A slash stays, as paths have them.
func fill(template string, v vars) (string, error) {
	var missing string
	out := placeholder.ReplaceAllStringFunc(template, func(p string) string {
		name := p[1 : len(p)-1]
		value := v[name]
		if value == "" {
			missing = p
			return ""
		}
		if name == "host" || name == "address" {
			return hostEscaped(value)
		}
		if i := v["instance"]; name == "app" && i != "" && i != defaultInstance && !strings.Contains(template, "{instance}") {
			value += "/" + i
		}
		parts := strings.Split(value, "/")
		for i, part := range parts {
			parts[i] = url.PathEscape(part)
		}
		return strings.Join(parts, "/")
	})
	if missing != "" {
		return "", fmt.Errorf("it has no %s", missing)
	}
	if v[queryVhost] != "" && !strings.Contains(template, "{vhost}") {
		out = withVhost(out, v[queryVhost])
	}
	if v[ownQuery] != "" && strings.HasPrefix(out, gb28181.Scheme+":") && !strings.Contains(out, "?") {
		out += "?" + v[ownQuery]
	}
	return out, nil
}

// withVhost names a virtual host as SRS's players do (srs_discovery_tc_url): without
// it the default one's stream of that name would be read.
func withVhost(raw, vhost string) string {
	sep := "?"
	if strings.Contains(raw, "?") {
		sep = "&"
	}
	return raw + sep + "vhost=" + url.QueryEscape(vhost)
}

// hostEscaped is a host or address as a URL has it: IPv6 in brackets, and of
// anything else only what a host may be made of.
func hostEscaped(h string) string {
	if strings.Contains(h, ":") && !strings.HasPrefix(h, "[") {
		h = "[" + h + "]"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(".-_:[]%", r):
			return r
		}
		return -1
	}, h)
}

// entries makes what a server listed into what can be watched.
func (d *Discovery) entries(found []vars) ([]Entry, []Problem) {
	var out []Entry
	var t problems
	for _, v := range found {
		if v["host"] == "" {
			v["host"] = d.api.Hostname()
		}
		of, err := d.entriesOf(v)
		if err != nil {
			t.add(Problem{File: d.Name(), Why: fmt.Sprintf("%q can't be watched: %v", Clean(v.called(), 60), err)})
			continue
		}
		out = append(out, of...)
	}
	return out, t.all(d.Name(), "more can't be watched")
}

// entriesOf is one stream, at each of its layers where there are any.
func (d *Discovery) entriesOf(v vars) ([]Entry, error) {
	raw, err := fill(d.template, v)
	if err != nil {
		return nil, err
	}
	e, err := NewEntry(raw, d.Name())
	if err != nil {
		return nil, err
	}
	e.Labels = d.labels(v)
	if v[ownName] != "" {
		e.Name = Clean(v[ownName], maxName)
	}
	if d.layers != nil {
		return d.layers.of(e, v)
	}
	return []Entry{e}, nil
}

// called is what a stream or service calls itself.
func (v vars) called() string {
	for _, name := range []string{"stream", "id", "service", "node", "address"} {
		if v[name] != "" {
			return v[name]
		}
	}
	return "one"
}
