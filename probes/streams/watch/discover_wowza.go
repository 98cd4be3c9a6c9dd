package watch

import (
	"encoding/json"
	"net/url"
	"strings"
)

// Wowza Streaming Engine's REST API, by its own description (swagger.json of version 2,
// at port 8089 of the engine): ApplicationsConfig, InstancesConfig, InstanceConfig and
// IncomingStreamConfig. It gives whole lists, in JSON where that is asked for.
const wowzaPath = "/v2/servers/_defaultServer_/vhosts/_defaultVHost_/applications"

// defaultInstance is what an application's instance is called where nobody named one.
const defaultInstance = "_definst_"

// listWowza asks for the applications, and for the instances of each: these have their
// incoming streams in them. A URL that names an application is of that one alone.
func listWowza(api *url.URL, get func(*url.URL) ([]byte, error)) (found []vars, cut bool, err error) {
	base, rest, _ := strings.Cut(strings.TrimRight(api.Path, "/")+"/", "/applications/")
	app, _, _ := strings.Cut(rest, "/")
	apps := []string{app}
	at := *api
	at.RawPath = ""
	if app == "" {
		at.Path = base + "/applications"
		body, err := get(&at)
		if err != nil {
			return nil, false, err
		}
		if apps, err = readWowzaApplications(body); err != nil {
			return nil, false, err
		}
	}
	cut = len(apps) > maxPages
	for _, app := range apps[:min(len(apps), maxPages)] {
		at.Path = base + "/applications/" + app + "/instances"
		at.RawPath = (&url.URL{Path: base + "/applications/"}).EscapedPath() + url.PathEscape(app) + "/instances"
		body, err := get(&at)
		if err != nil {
			return nil, false, err
		}
		l, err := readWowzaInstances(body)
		if err != nil {
			return nil, false, err
		}
		for _, v := range l.found {
			v["app"], v["vhost"] = app, vhostOf(base)
			found = append(found, v)
		}
	}
	return found, cut, nil
}

// vhostOf is the virtual host that a path of the API is of; "" for the default one.
func vhostOf(path string) string {
	_, after, _ := strings.Cut(path, "/vhosts/")
	name, _, _ := strings.Cut(after, "/")
	if name == "_defaultVHost_" {
		return ""
	}
	return name
}

func readWowzaApplications(body []byte) ([]string, error) {
	var list struct {
		Applications *[]struct {
			ID string `json:"id"`
		} `json:"applications"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Applications == nil {
		return nil, another(body, "Wowza's list of applications ("+wowzaPath+")")
	}
	var out []string
	for _, a := range *list.Applications {
		if a.ID != "" {
			out = append(out, a.ID)
		}
	}
	return out, nil
}

// readWowzaInstances finds what comes in. A stream that is not connected is one that
// was to be fetched, and gives nothing.
func readWowzaInstances(body []byte) (listing, error) {
	var list struct {
		Instances *[]struct {
			Name     string `json:"name"`
			Incoming []struct {
				Name      string `json:"name"`
				Connected bool   `json:"isConnected"`
			} `json:"incomingStreams"`
		} `json:"instanceList"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Instances == nil {
		return listing{}, another(body, "Wowza's list of an application's instances")
	}
	out := listing{pages: 1}
	for _, i := range *list.Instances {
		for _, s := range i.Incoming {
			if s.Connected && s.Name != "" {
				out.found = append(out.found, vars{"stream": s.Name, "instance": i.Name})
			}
		}
	}
	return out, nil
}
