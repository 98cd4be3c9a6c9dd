package watch

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
)

// A real Consul: services as agents register them, one with its own address, one at
// its node's, one whose check fails, and one that lacks what the template wants.
func TestDiscoverConsul(t *testing.T) {
	t.Parallel()
	program := counterpart.Consul(t)
	port := counterpart.Port(t)
	api := fmt.Sprintf("http://127.0.0.1:%d", port)
	counterpart.Run(t, program, "agent", "-dev", "-node", "edge1", "-bind", "127.0.0.1", "-client", "127.0.0.1", "-log-level", "warn",
		"-http-port", fmt.Sprint(port), "-dns-port", "-1", "-server-port", fmt.Sprint(counterpart.Port(t)),
		"-serf-lan-port", fmt.Sprint(counterpart.Port(t)), "-serf-wan-port", fmt.Sprint(counterpart.Port(t)),
		"-hcl", "disable_update_check = true", "-hcl", "connect { enabled = false }", "-hcl", "ports { grpc = -1 }")
	put := func(body string) error {
		req, err := http.NewRequest(http.MethodPut, api+"/v1/agent/service/register", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("it answered %s", resp.Status)
		}
		return nil
	}
	for _, body := range []string{
		`{"ID": "rtmp-1", "Name": "rtmp", "Address": "10.1.10.99", "Port": 1935, "Meta": {"stream": "cam1"}}`,
		`{"ID": "rtmp-2", "Name": "rtmp", "Port": 1936, "Meta": {"stream": "cam2"}}`,
		`{"ID": "rtmp-3", "Name": "rtmp", "Address": "fd00::3", "Port": 1935, "Meta": {"stream": "cam3"}, "Check": {"TTL": "10s", "Status": "critical"}}`,
		`{"ID": "rtmp-4", "Name": "rtmp", "Address": "10.1.10.98", "Port": 1935}`,
		`{"ID": "web-1", "Name": "web", "Port": 80}`,
	} {
		var err error
		for range 200 { // until it has started
			if err = put(body); err == nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil {
			t.Fatalf("register %s: %v", body, err)
		}
	}
	ask := func(spec string) ([]string, []Problem, error) {
		d, err := ParseDiscovery(spec)
		if err != nil {
			t.Fatal(err)
		}
		entries, problems, err := d.Ask(context.Background())
		var got []string
		for _, e := range entries {
			got = append(got, e.URL.String())
		}
		slices.Sort(got)
		return got, problems, err
	}
	const template = " url=rtmp://{address}:{port}/live/{meta.stream}"
	want := []string{"rtmp://10.1.10.99:1935/live/cam1", "rtmp://127.0.0.1:1936/live/cam2", "rtmp://[fd00::3]:1935/live/cam3"}
	var got []string
	var problems []Problem
	var err error
	for range 200 { // the agent tells the catalogue in the background
		got, problems, err = ask("consul:" + api + "/v1/health/service/rtmp" + template)
		if slices.Equal(got, want) && len(problems) == 1 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if !slices.Equal(got, want) || len(problems) != 1 || err != nil {
		t.Errorf("%q, problems %v, %v; want %q and one problem", got, problems, err, want)
	}
	if len(problems) > 0 && !strings.Contains(problems[0].Why, "meta.stream") {
		t.Errorf("the service without a stream: %v", problems[0])
	}
	if got, problems, err := ask("consul:" + api + "/v1/health/service/nobody" + template); len(got)+len(problems) != 0 || err != nil {
		t.Errorf("a service that nobody registered: %q, %v, %v", got, problems, err)
	}
	for path, says := range map[string]string{
		"/v1/health/state/any":     "another JSON document",
		"/v1/agent/services":       "another JSON document",
		"/v1/nothing":              "404",
		"/v1/catalog/service/rtmp": "another JSON document",
	} {
		if _, _, err := ask("consul:" + api + path + template); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q in it", path, err, says)
		}
	}
}
