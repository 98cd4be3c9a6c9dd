package main

import (
	"snag/internal/cli"
	"snag/internal/netns"
	"snag/probes/streams/watch"
)

// discoverUsage is what --discover takes, after what it does.
func discoverUsage(does string) string {
	return does + ": nginx:URL mediamtx:URL srs:URL wowza:URL antmedia:URL nms:URL consul:URL gb28181://HOST/DEVICE_ID, then 'url=TEMPLATE' where streams are read elsewhere; may be given more than once"
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
		d, err := watch.ParseDiscovery(spec)
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
