package hosts

import (
	"errors"
	"strings"
	"testing"
	"time"

	"snag/fleet/discovery"
)

func TestListedHostsThatAreNotSeen(t *testing.T) {
	s := &store{}
	s.host("edge-1", "edge", "10.0.1.1", time.Second)
	s.host("edge-2.example.com", "edge", "10.0.1.2", time.Second)
	s.host("node-3", "edge", "10.0.1.3", time.Second)
	at := func(address string, labels ...string) discovery.Target {
		l := map[string]string{}
		for i := 0; i+1 < len(labels); i += 2 {
			l[labels[i]] = labels[i+1]
		}
		return discovery.Target{Address: address, Labels: l}
	}
	for name, c := range map[string]struct {
		listed []discovery.Target
		want   string
	}{
		"by address, two ports":             {[]discovery.Target{at("10.0.1.1:80"), at("10.0.1.1:443")}, ""},
		"by name":                           {[]discovery.Target{at("edge-1:80"), at("EDGE-2.example.com:80")}, ""},
		"by the first part of either name":  {[]discovery.Target{at("edge-1.example.com:80"), at("edge-2:80")}, ""},
		"a first part that two have":        {[]discovery.Target{at("edge-1.east.example:80"), at("edge-1.west.example:80")}, "edge-1.east.example edge-1.west.example"},
		"another domain":                    {[]discovery.Target{at("edge-2.example.org:80")}, "edge-2.example.org"},
		"by the node of a pod":              {[]discovery.Target{at("10.244.0.9:80", "__meta_kubernetes_pod_node_name", "node-3")}, ""},
		"by the address of the node":        {[]discovery.Target{at("10.244.0.9:80", "__meta_kubernetes_pod_node_name", "x", "__meta_kubernetes_pod_host_ip", "10.0.1.3")}, ""},
		"by the node of Consul":             {[]discovery.Target{at("10.9.9.9:80", "__meta_consul_node", "edge-1")}, ""},
		"loopback is no host's":             {[]discovery.Target{at("127.0.0.1:80")}, "127.0.0.1"},
		"one that has no recorder":          {[]discovery.Target{at("10.0.1.1:80"), at("10.0.1.9:80"), at("edge-9:80")}, "10.0.1.9 edge-9"},
		"the instance of a list in a file ": {[]discovery.Target{at("10.0.1.9:80", "instance", "node-3:9100")}, ""},
	} {
		f, err := Read(t.Context(), s, "", now)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Expect(t.Context(), s, "file:x.json", discovery.List{Targets: c.listed}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range f.Missing {
			got = append(got, m.Name)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q is missing, not %q", name, text, c.want)
		}
		if want := c.want == ""; (f.Standing(f.Causes()) == Well) != want {
			t.Errorf("%s: %s", name, f.Standing(f.Causes()))
		}
	}
}

func TestTextOfListedHosts(t *testing.T) {
	s := &store{}
	s.host("edge-1", "edge", "10.0.1.1", time.Second)
	f, err := Read(t.Context(), s, "", now)
	if err != nil {
		t.Fatal(err)
	}
	l := discovery.List{Targets: []discovery.Target{{Address: "10.0.1.1:80"}, {Address: "10.0.1.2:80"}}, Problems: []error{errors.New("read b.json: torn")}}
	if err := f.Expect(t.Context(), s, "file:*.json", l); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := f.WriteText(&out, "http://p:9090", nil); err != nil {
		t.Fatal(err)
	}
	const want = `http://p:9090 · 1 host, 0 affected, 1 of 2 listed not seen · 14:17:28 UTC
not seen   file:*.json: read b.json: torn
not seen   10.0.1.2: file:*.json lists it, and no recorder on it sends to this store

NO HOST IS SEEN TO BE AFFECTED, but not all were seen: see above
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
	if d := f.Document(nil); d.Standing != NotSeen || d.Discovery == nil || len(d.Discovery.Missing) != 1 || d.Discovery.Hosts != 2 {
		t.Errorf("%+v", d.Discovery)
	}
	f.Missing, f.Listed = nil, 1
	if f.Standing(nil) != NotSeen {
		t.Error("a list that could not be read whole passes for one of all")
	}
}
