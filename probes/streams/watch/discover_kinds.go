package watch

import (
	"context"
	"net/url"
	"strings"

	"snag/probes/streams/gb28181"
)

// kind is one sort of server.
type kind struct {
	name     string
	template string // where the user gives none; "" asks for one
	path     string // of the API, where the URL that was given has none; "" asks for one
	// page is the URL of page n, from 0, after so many that were listed before; nil
	// where all comes at once.
	page func(api *url.URL, n, listed int) *url.URL
	// read takes an answer apart. It does no I/O.
	read func(body []byte) (listing, error)
	// list asks in another way than page by page; nil: it does not. cut reports that
	// more was left than maxPages allows.
	list func(api *url.URL, get func(*url.URL) ([]byte, error)) (found []vars, cut bool, err error)
	// ask asks in another way than over HTTP; nil: it does not. leave ends what ask began.
	ask   func(ctx context.Context, d *Discovery) ([]vars, []Problem, error)
	leave func(d *Discovery)
	// parse reads what follows the kind's name and a colon; nil: an HTTP URL.
	parse func(raw string) (*url.URL, error)
	// of is what holds for all streams of an API's URL; nil: nothing.
	of func(api *url.URL) vars
	// label are those of a stream's vars that group streams as the server does.
	label []string
}

// listing is what one answer lists.
type listing struct {
	found  []vars // streams that somebody publishes
	listed int    // the others too
	pages  int    // how many answers there are in all; 0: ask until one lists few
	few    int    // so many or more on a page are followed by another page
}

// last reports whether page n is the last.
func (l listing) last(n int) bool {
	if l.pages > 0 {
		return n+1 >= l.pages
	}
	return l.listed < l.few
}

// vars are what a template's {names} stand for, of one stream or service.
type vars map[string]string

var kinds = []kind{
	{name: "nginx", template: "rtmp://{host}:1935/{app}/{stream}", path: "/stat", read: readNginx, label: []string{"app"}},
	{name: "mediamtx", template: "rtsp://{host}:8554/{stream}", path: "/v3/paths/list", page: mediaMTXPage, read: readMediaMTX},
	{name: "srs", template: "rtmp://{host}:1935/{app}/{stream}", path: "/api/v1/streams", page: srsPage, read: readSRS, label: []string{"app", "vhost"}},
	{name: "wowza", template: "rtmp://{host}:1935/{app}/{stream}", path: wowzaPath, read: readWowzaInstances, list: listWowza, label: []string{"app", "instance", "vhost"}},
	{name: "antmedia", template: "http://{host}:5080/{app}/streams/{stream}.m3u8", page: antMediaPage, read: readAntMedia, of: antMediaVars, label: []string{"app"}},
	{name: "nms", template: "rtmp://{host}:1935/{app}/{stream}", path: "/api/streams", read: readNMS, label: []string{"app"}},
	{name: "consul", read: readConsul, label: []string{"service", "node", "tags"}},
	{name: gb28181.Scheme, template: "gb28181://{host}:{port}/{device}/{stream}", parse: gb28181URL, ask: askGB28181, leave: leaveGB28181, label: []string{"device"}},
}

func kindNames() string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return strings.Join(append(names, listedKinds...), ", ")
}
