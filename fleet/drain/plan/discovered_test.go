package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"snag/fleet/discovery"
)

func TestPeersThatADiscoveryLists(t *testing.T) {
	target := func(address string, labels ...string) discovery.Target {
		l := map[string]string{}
		for i := 0; i+1 < len(labels); i += 2 {
			l[labels[i]] = labels[i+1]
		}
		return discovery.Target{Address: address, Labels: l}
	}
	got := ""
	for _, p := range Discovered([]discovery.Target{
		target("10.0.0.3:80", "instance", "edge-10:9100"),
		target("10.0.0.2:80", "instance", "edge-2"),
		target("web:81"), target("web:80"), // two on one host
		target("plain"), // of no known port
		target("10.0.0.4:80", "__meta_consul_node", "node-1", "__meta_consul_service_id", "web-7"),
		target("10.1.0.5:80", "__meta_kubernetes_pod_name", "pod-b", "__meta_kubernetes_pod_node_name", "node-9"),
	}) {
		got += fmt.Sprintf("%s %s %s\n", p.Name, p.Address, p.HostName())
	}
	if want := `edge-2 10.0.0.2:80 edge-2
edge-10 10.0.0.3:80 edge-10
node-1 10.0.0.4:80 node-1
plain  plain
pod-b 10.1.0.5:80 node-9
web:80 web:80 web
web:81 web:81 web
`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

const discovered = `version: 1
batch: 1
peers_from: "file:targets.json"
restart:
  - run: [restart, "{meta.consul_service_id}", "{label.unit}"]
health: {none: true}
`

// The peers come from who reads the plan; whatever is wrong with one of them is named with the line of peers_from.
func TestAPlanWithDiscoveredPeers(t *testing.T) {
	labels := map[string]string{"__meta_consul_service_id": "web-7", "unit": "nginx"}
	list := func(peers ...Peer) func(*Plan) error {
		return func(p *Plan) error {
			if p.PeersFrom != "file:targets.json" {
				t.Error(p.PeersFrom)
			}
			p.Peers = peers
			return nil
		}
	}
	p, err := Parse([]byte(discovered), list(Peer{Name: "a", Labels: labels}))
	if err != nil {
		t.Fatal(err)
	}
	if a, err := p.Peers[0].FillAction(p.Restart[0]); err != nil || strings.Join(a.Run, " ") != "restart web-7 nginx" {
		t.Errorf("%q %v", a.Run, err)
	}
	for name, c := range map[string]struct {
		text   string
		change func(*Plan) error
		want   string
	}{
		"both":               {discovered + "peers: [{name: a}]\n", nil, "line 3: peers and peers_from: give one of them"},
		"nobody":             {discovered, list(), "line 3: peers is empty"},
		"a name twice":       {discovered, list(Peer{Name: "a", Labels: labels}, Peer{Name: "a", Labels: labels}), "line 3: two peers are named a"},
		"a name with spaces": {discovered, list(Peer{Name: "a b", Labels: labels}), "line 3: peer 1: a name has no spaces"},
		"a label is missing": {discovered, list(Peer{Name: "a"}), "line 5: restart[1]: {meta.consul_service_id}: peer a has none: add it, or leave it out (line 3)"},
		"it can't be listed": {discovered, func(*Plan) error { return errors.New("peers_from: no such file") }, "peers_from: no such file"},
	} {
		if _, err := Parse([]byte(c.text), c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}
