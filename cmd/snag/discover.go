package main

import (
	"context"
	"net"
	"strings"

	"snag/fleet/discovery"
	"snag/internal/cli"
	"snag/internal/netns"
	"snag/probes/streams/watch"
)

// discoverUsage is what --discover takes, after what it does.
func discoverUsage(does string) string {
	return does + ": nginx:URL mediamtx:URL srs:URL wowza:URL antmedia:URL nms:URL consul:URL gb28181://HOST/DEVICE_ID, or file:PATTERN dns:NAME kubernetes:pod consul:URL?service=NAME static:HOST:PORT (docs/discovery.md), then 'url=TEMPLATE' where streams are read elsewhere; may be given more than once"
}

const credentialsUsage = "ask those servers with the users and tokens of this file: HOST[:PORT] user=… password=…, or HOST[:PORT] token=…, a line; it must be yours alone (chmod 600)"

// discoveries are the servers that --discover names, asked from inside a namespace (nil:
// snag's own) with the credentials of a file ("": of the URLs alone). With layers each
// stream is read at these.
func discoveries(specs []string, credentials string, layers watch.Layers, inside *netns.Handle) ([]*watch.Discovery, error) {
	var with *watch.Credentials
	if credentials != "" {
		var err error
		if with, err = watch.ReadCredentials(credentials); err != nil {
			return nil, cli.Usage("--discover-credentials: %v", err)
		}
	}
	var out []*watch.Discovery
	for _, spec := range specs {
		d, err := oneDiscovery(spec, inside)
		if err != nil {
			return nil, cli.Usage("--discover: %v", err)
		}
		if inside != nil {
			d.Inside(inside.Path)
		}
		if with != nil {
			d.With(with)
		}
		d.Layers(layers)
		out = append(out, d)
	}
	return out, nil
}

// layersOfEach are --layers where they are templates for each stream of a list; nil
// where they are not.
func layersOfEach(spec string) (watch.Layers, error) {
	if !watch.LayersOfEach(spec) {
		return nil, nil
	}
	layers, err := watch.ParseLayerTemplates(spec)
	if err != nil {
		return nil, cli.Usage("--layers: %v", err)
	}
	return layers, nil
}

// oneDiscovery is a server of streams, or what lists hosts and services: of Consul, where its URL names the service.
func oneDiscovery(spec string, inside *netns.Handle) (*watch.Discovery, error) {
	words, err := watch.Words(spec)
	if err != nil || len(words) == 0 || !listsHosts(words[0]) {
		return watch.ParseDiscovery(spec)
	}
	var dial discovery.Dial
	if inside != nil {
		dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			return netns.Dial(ctx, &net.Dialer{}, inside.Path, network, address)
		}
	}
	source, err := discovery.Parse(words[0], dial)
	if err != nil {
		return nil, err
	}
	return watch.NewDiscovery(lister{source}, words[1:])
}

func listsHosts(source string) bool {
	kind, rest, _ := strings.Cut(source, ":")
	switch kind {
	case "file", "dns", "kubernetes", "static":
		return true
	}
	return kind == "consul" && strings.Contains(rest, "service=")
}

// lister makes of targets what templates are filled with.
type lister struct{ discovery.Source }

// List implements watch.Lister.
func (l lister) List(ctx context.Context) watch.Listed {
	all, err := l.Source.List(ctx)
	return listed(discovery.Update{List: all, Err: err})
}

// Follow implements watch.Lister.
func (l lister) Follow(ctx context.Context, on func(watch.Listed)) {
	l.Source.Follow(ctx, func(u discovery.Update) { on(listed(u)) })
}

func listed(u discovery.Update) watch.Listed {
	out := watch.Listed{Err: u.Err}
	for _, t := range u.Targets {
		host, port := t.Host()
		v := map[string]string{"address": host, "host": host, "port": port}
		for name, value := range t.Labels {
			if key, meta := strings.CutPrefix(name, "__meta_"); meta {
				v["meta."+key] = value
			} else {
				v["label."+name] = value
			}
		}
		out.Found = append(out.Found, v)
	}
	for _, err := range u.Problems {
		out.Problems = append(out.Problems, err.Error())
	}
	return out
}
