package counterpart

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Agent is a real Consul in development mode: one agent that is its own server.
type Agent struct {
	URL string // http://127.0.0.1:PORT
	t   testing.TB
}

// ConsulAgent starts one that ends with the test.
func ConsulAgent(t testing.TB) Agent {
	t.Helper()
	port := Port(t)
	Run(t, Consul(t), "agent", "-dev", "-node", "edge1", "-bind", "127.0.0.1", "-client", "127.0.0.1", "-log-level", "warn",
		"-http-port", fmt.Sprint(port), "-dns-port", "-1", "-server-port", fmt.Sprint(Port(t)),
		"-serf-lan-port", fmt.Sprint(Port(t)), "-serf-wan-port", fmt.Sprint(Port(t)),
		"-hcl", "disable_update_check = true", "-hcl", "connect { enabled = false }", "-hcl", "ports { grpc = -1 }")
	return Agent{fmt.Sprintf("http://127.0.0.1:%d", port), t}
}

// Put sends it a request of its HTTP API, again until it has started.
func (a Agent) Put(path, body string) {
	a.t.Helper()
	for range 200 {
		req, err := http.NewRequest(http.MethodPut, a.URL+path, strings.NewReader(body))
		if err != nil {
			a.t.Fatal(err)
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	a.t.Fatalf("%s: Consul did not take it", path)
}
