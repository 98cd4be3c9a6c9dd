package discovery

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
)

// A real Consul: services as agents register them, and one that is registered while it is followed.
func TestConsul(t *testing.T) {
	t.Parallel()
	agent := counterpart.ConsulAgent(t)
	api, put := agent.URL, agent.Put
	put("/v1/agent/service/register", `{"ID": "rtmp-1", "Name": "rtmp", "Address": "10.1.10.99", "Port": 1935, "Tags": ["live", "hd"], "Meta": {"stream-key": "cam1"}}`)
	put("/v1/agent/service/register", `{"ID": "rtmp-2", "Name": "rtmp", "Port": 1936, "Check": {"TTL": "10s", "Status": "critical"}}`)
	put("/v1/agent/service/register", `{"ID": "web-1", "Name": "web", "Port": 80}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, err := Follow(ctx, "consul:"+api+"?service=rtmp&service=web")
	if err != nil {
		t.Fatal(err)
	}
	until := func(want ...string) Update {
		t.Helper()
		for {
			if u := next(t, all); slices.Equal(addresses(u.Targets), want) {
				return u
			}
		}
	}
	u := until("10.1.10.99:1935", "127.0.0.1:1936", "127.0.0.1:80")
	for name, want := range map[string]string{
		"__meta_consul_node": "edge1", "__meta_consul_address": "127.0.0.1", "__meta_consul_dc": "dc1", "__meta_consul_service": "rtmp", "__meta_consul_service_id": "rtmp-1",
		"__meta_consul_service_address": "10.1.10.99", "__meta_consul_service_port": "1935", "__meta_consul_tags": ",live,hd,", "__meta_consul_health": "passing",
		"__meta_consul_service_metadata_stream_key": "cam1", "__meta_consul_tagged_address_lan": "127.0.0.1",
	} {
		if got := u.Targets[0].Labels[name]; got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	if got := u.Targets[1].Labels["__meta_consul_health"]; got != "critical" {
		t.Errorf("the health of an instance whose check fails is %q", got)
	}
	began := time.Now()
	put("/v1/agent/service/register", `{"ID": "rtmp-3", "Name": "rtmp", "Address": "10.1.10.7", "Port": 1935}`)
	until("10.1.10.7:1935", "10.1.10.99:1935", "127.0.0.1:1936", "127.0.0.1:80")
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("a new instance was seen after %s", d)
	}
	put("/v1/agent/service/deregister/rtmp-1", "")
	until("10.1.10.7:1935", "127.0.0.1:1936", "127.0.0.1:80")
	for spec, want := range map[string]int{"?service=rtmp&tag=none": 0, "/v1/health/service/web": 1, "": 4} { // with Consul itself
		if l, err := Targets(ctx, "consul:"+api+spec); err != nil || len(l.Targets) != want {
			t.Errorf("%s: %v %v", spec, addresses(l.Targets), err)
		}
	}
}

func TestConsulErrors(t *testing.T) {
	for body, says := range map[string]string{"403 Permission denied": "403 Forbidden: Permission denied: give a token", "500 rpc error": "500 Internal", "200 {": "can't be read"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			var code int
			fmt.Sscan(body, &code)
			w.WriteHeader(code)
			fmt.Fprint(w, body[4:])
		}))
		_, err := Targets(t.Context(), "consul:"+s.URL+"?service=x")
		s.Close()
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", body, err)
		}
		if _, err := Targets(t.Context(), "consul:"+s.URL+"?service=x"); err == nil || !strings.Contains(err.Error(), "is it running") {
			t.Errorf("a server that is not there: %v", err)
		}
	}
}
