package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/internal/netns/netnstest"
	"snag/probes/streams/counterpart"
)

// passing are the ports of the instances that a Consul has in service.
func passing(api string) (ports []int, err error) {
	resp, err := http.Get(api + "/v1/health/service/web?passing")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var all []struct{ Service struct{ Port int } }
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		return nil, err
	}
	for _, one := range all {
		ports = append(ports, one.Service.Port)
	}
	slices.Sort(ports)
	return ports, nil
}

// discoverer is a client that asks Consul whom to ask before each request.
type discoverer struct {
	api      string
	answered int
	failed   []string
	away     map[int]bool // ports that were seen out of service
}

func (d *discoverer) run(stop chan struct{}) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Second}
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(10 * time.Millisecond):
		}
		ports, err := passing(d.api)
		if err != nil || len(ports) == 0 {
			d.failed = append(d.failed, fmt.Sprintf("Consul: %d in service, %v", len(ports), err))
			continue
		}
		for port := 8081; port <= 8083; port++ {
			if !slices.Contains(ports, port) {
				d.away[port] = true
			}
		}
		resp, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", ports[n%len(ports)]))
		if err != nil {
			d.failed = append(d.failed, err.Error())
			continue
		}
		resp.Body.Close()
		d.answered++
	}
}

// peers are those of a plan.
var peers = regexp.MustCompile(`(?m)^peers:\n(  - .*\n)+`)

// A real Consul: it lists the peers, and each nginx is in maintenance while it is restarted, so that clients who ask
// Consul whom to ask get an answer each time.
func TestDrainOverConsul(t *testing.T) {
	if netnstest.Alone(t) {
		return
	}
	e := newEdges(t)
	consul := counterpart.ConsulAgent(t)
	for i := 1; i <= 3; i++ {
		consul.Put("/v1/agent/service/register", fmt.Sprintf(`{"ID": %q, "Name": "web", "Address": "127.0.0.1", "Port": %d}`, edge(i), 8080+i))
	}
	var before []int
	within(t, "Consul has all three in service", func() bool {
		before, _ = passing(consul.URL)
		return len(before) == 3
	})
	old := [3]int{e.pid(1), e.pid(2), e.pid(3)}
	d, stop := &discoverer{api: consul.URL, away: map[int]bool{}}, make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { d.run(stop) })
	path := e.plan(`checks: [{name: consul, http: {url: "` + consul.URL + `/v1/status/leader"}}]`)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	maintenance := `{consul: {url: "` + consul.URL + `", service: "{meta.consul_service_id}", reason: "new kernel"}}`
	// Who has asked Consul a moment before still comes.
	e.write("plan.yaml", strings.NewReplacer(
		`drain: [{run: [touch, "`+e.dir+`/out-{name}"]}]`, `drain: [`+maintenance+`, {run: [sleep, "0.5"]}]`,
		`return: [{run: [rm, "`+e.dir+`/out-{name}"]}]`, `return: [`+maintenance+`]`,
		"{name}", "{meta.consul_service_id}").Replace(peers.ReplaceAllString(string(text), "peers_from: 'consul:"+consul.URL+"?service=web'\n")))
	out, code := e.run(path)
	close(stop)
	running.Wait()
	if code != 0 || !strings.Contains(out, "DONE: 3 peers") || strings.Count(out, "/v1/agent/service/maintenance/edge-") != 6 {
		t.Errorf("exit %d", code)
	}
	for i := 1; i <= 3; i++ {
		if pid := e.pid(i); pid == 0 || pid == old[i-1] {
			t.Errorf("%s was not restarted", edge(i))
		}
	}
	if d.answered < 50 || len(d.failed) > 0 || len(d.away) != 3 {
		t.Errorf("%d answered, failed: %q, seen out of service: %v", d.answered, d.failed, d.away)
	}
	if after, err := passing(consul.URL); err != nil || !slices.Equal(after, before) {
		t.Errorf("in service after it: %v (%v)", after, err)
	}
}
