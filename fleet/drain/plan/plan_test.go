package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const good = `version: 1
batch: 2
canary: 1
pause: 30s
peers:
  - {name: edge-1, address: "10.0.1.1:80", labels: {unit: nginx}}
  - {name: edge-2, address: "10.0.1.2:80", labels: {unit: nginx}}
drain:
  - consul: {url: "http://{ip}:8500", service: "web-{name}"}
leave: {connections: "{address}", timeout: 2m}
restart:
  - run: [ssh, "{host}", systemctl, restart, "{label.unit}"]
ready: {tcp: "{address}"}
return:
  - http: {method: POST, url: "http://lb/{name}/on", status: 204}
health:
  checks:
    - {name: site, http: {url: "http://lb/"}}
`

func TestAPlanIsRead(t *testing.T) {
	p, err := Parse([]byte(good), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Peers[1].FillAction(p.Restart[0])
	if got := strings.Join(a.Run, " "); err != nil || got != "ssh edge-2 systemctl restart nginx" {
		t.Errorf("%s %v", got, err)
	}
	if c, err := p.Peers[0].FillAction(p.Drain[0]); err != nil || c.Consul.URL != "http://10.0.1.1:8500" || c.Consul.Service != "web-edge-1" {
		t.Errorf("%+v %v", c.Consul, err)
	}
	if p.Drain[0].Consul.URL != "http://{ip}:8500" || p.Restart[0].Run[1] != "{host}" {
		t.Error("the plan itself was changed")
	}
	if p.OnHurt != HurtReturn || p.Pause.Or(0) != 30*time.Second || p.Leave.Timeout.Or(LeaveTimeout) != 2*time.Minute || p.Ready.Timeout.Or(ReadyTimeout) != time.Minute {
		t.Errorf("%+v", p)
	}
}

// Each is one error on one line, which names the line of the file, what is wrong, and what would be right.
func TestWhatIsNoPlan(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"empty":                     {good, "", "it is empty: docs/drain.md"},
		"another file":              {good, "hello\n", "it is not a plan"},
		"a mistyped key":            {"restart:", "restrat:", `line 11: unknown key "restrat" in the plan; did you mean restart?`},
		"a mistyped key of a peer":  {"{name: edge-2, address", "{name: edge-2, addr", `line 7: unknown key "addr" in peers[2]; did you mean address?`},
		"no near key":               {"ready:", "zzz:", `line 13: unknown key "zzz" in the plan: there are version, batch`},
		"a key twice":               {"pause: 30s", "pause: 30s\npause: 1m", "already defined at line 4"},
		"zero batch":                {"batch: 2", "batch: 0", `line 2: batch "0": write how many peers`},
		"zero percent":              {"batch: 2", "batch: 0%", `line 2: batch "0%"`},
		"no batch":                  {"batch: 2\n", "", "line 1: batch is missing"},
		"a large canary":            {"canary: 1", "canary: 3", "line 3: canary 3: the first batch has from 1"},
		"no peers":                  {good[strings.Index(good, "  - {name: edge-1"):strings.Index(good, "drain:")], "  []\n", "peers is empty"},
		"no name":                   {"{name: edge-2, ", "{", "line 7: peer 2 has no name"},
		"one name twice":            {"name: edge-2", "name: edge-1", "line 7: two peers are named edge-1"},
		"no port":                   {`"10.0.1.2:80"`, `"10.0.1.2"`, `line 7: address "10.0.1.2" of peer edge-2: write HOST:PORT`},
		"a step without a command":  {"  - run: [ssh, \"{host}\", systemctl, restart, \"{label.unit}\"]", "  - timeout: 3s", "line 12: restart[1] has 0 of run, http and consul: give one of them"},
		"a step with two":           {"  - http: {method", "  - run: [a]\n    http: {method", "return[1] has 2 of run, http and consul"},
		"nothing to come back":      {good[strings.Index(good, "return:"):strings.Index(good, "health:")], "", "return is missing: say how they come back"},
		"a command for a shell":     {`[ssh, "{host}", systemctl, restart, "{label.unit}"]`, `["systemctl restart nginx"]`, "no shell reads it: write [systemctl, restart, nginx]"},
		"a label that is not there": {`"10.0.1.2:80", labels: {unit: nginx}`, `"10.0.1.2:80"`, "line 12: restart[1]: {label.unit}: peer edge-2 has none: add it, or leave it out (line 7)"},
		"an address that is not":    {`{name: edge-2, address: "10.0.1.2:80", `, "{name: edge-2, ", "{ip}: peer edge-2 has none"},
		"maintenance in restart":    {`  - run: [ssh, "{host}", systemctl, restart, "{label.unit}"]`, `  - consul: {url: "http://a", service: b}`, "restart[1]: the maintenance mode belongs in drain"},
		"no URL":                    {"http://lb/{name}/on", "lb/{name}/on", "line 15: return[1].http.url is not an http://"},
		"a password in a URL":       {"http://lb/{name}/on", "http://a:secret@lb/on", "put the credentials into a file"},
		"no health":                 {good[strings.Index(good, "health:"):], "", "health is missing: give fleet, streams or checks; or none: true"},
		"health and none":           {"health:\n", "health:\n  none: true\n", "line 17: health has none: true and something"},
		"a time without a unit":     {"pause: 30s", "pause: 30", `line 4: "30" is not a time: write 30s`},
		"two ways to leave":         {"leave: {", "leave: {query: x, ", "leave has 2 of connections, query and metrics"},
		"a query without a store":   {`leave: {connections: "{address}"`, "leave: {query: x", "asked of the store of health.fleet, which is missing"},
		"a later version":           {"version: 1", "version: 2", "line 1: version 2: this snag knows version 1"},
		"an alias":                  {"pause: 30s", "pause: &a 30s\njitter: *a", "jitter is an alias"},
		"what to do on harm":        {"version: 1", "version: 1\non_hurt: panic", "line 2: on_hurt \"panic\": there are return and leave"},
		"two documents":             {"version: 1", "version: 1\n---\nversion: 1", "more than one document"},
		"a wrong type":              {"canary: 1", "canary: [1]", "line 3: canary is a list, and one value is expected"},
		"a peer that is a name":     {"drain:\n", "  - edge-3\ndrain:\n", "line 8: peers[3] is one value, and a map of keys is expected"},
		"a command that is a text":  {`[ssh, "{host}", systemctl, restart, "{label.unit}"]`, "systemctl restart nginx", "line 12: restart[1].run is one value, and a list is expected"},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%s: the plan has no %q", name, c.old)
		}
		_, err := Parse([]byte(strings.Replace(good, c.old, c.new, 1)), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error shows a password", name)
		}
	}
}

func TestBatches(t *testing.T) {
	for _, c := range []struct {
		peers, canary int
		batch         Batch
		want          string
	}{
		{5, 0, Batch{N: 2}, "2 2 1"},
		{5, 1, Batch{N: 2}, "1 2 2"},
		{8, 1, Batch{Percent: 25}, "1 2 2 2 1"},
		{3, 0, Batch{Percent: 25}, "1 1 1"},
		{3, 0, Batch{N: 9}, "3"},
		{7, 0, Batch{Percent: 99}, "6 1"},
		{4, 0, Batch{Percent: 100}, "4"},
	} {
		p := Plan{Batch: c.batch, Canary: c.canary}
		for i := range c.peers {
			p.Peers = append(p.Peers, Peer{Name: fmt.Sprint(i)})
		}
		var sizes, names []string
		for _, b := range p.Batches() {
			sizes = append(sizes, fmt.Sprint(len(b)))
			for _, peer := range b {
				names = append(names, peer.Name)
			}
		}
		if got := strings.Join(sizes, " "); got != c.want || strings.Join(names, "") != "01234567"[:c.peers] {
			t.Errorf("%+v: %s of %v", c, got, names)
		}
	}
}

// A store of the command line is as good as one of the plan.
func TestAChangeCountsBeforeTheCheck(t *testing.T) {
	text := []byte(good[:strings.Index(good, "health:")])
	if _, err := Parse(text, func(p *Plan) error { p.Health.Fleet = &Fleet{URL: "http://p:9090"}; return nil }); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse(b, nil)
		if err != nil {
			return
		}
		n := 0
		for _, batch := range p.Batches() {
			n += len(batch)
		}
		if n != len(p.Peers) || n == 0 {
			t.Errorf("%d of %d peers", n, len(p.Peers))
		}
	})
}
