//go:build kubernetes

package discovery

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// cluster is a real API server of Kubernetes with its etcd, and nothing else: no kubelet, no controller.
type cluster struct {
	t    *testing.T
	url  string
	ca   string // a file
	http http.Client
}

const admin = "the-administrator"

// startCluster starts both on loopback and waits until the server is ready. make test-kubernetes builds the server.
func startCluster(t *testing.T) *cluster {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	accounts := file("accounts.key", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	clients, peers, port := freePort(t), freePort(t), freePort(t)
	store := "http://127.0.0.1:" + clients
	begin(t, filepath.Join(dir, "etcd.log"), "etcd", "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", store, "--advertise-client-urls", store, "--listen-peer-urls", "http://127.0.0.1:"+peers)
	begin(t, filepath.Join(dir, "api.log"), os.Getenv("KUBE_APISERVER"), "--etcd-servers", store, "--bind-address", "127.0.0.1", "--secure-port", port, "--advertise-address", "192.0.2.1",
		"--cert-dir", filepath.Join(dir, "certs"), "--service-cluster-ip-range", "198.51.100.0/24", "--authorization-mode", "RBAC", "--disable-admission-plugins", "ServiceAccount",
		"--token-auth-file", file("tokens.csv", admin+`,admin,1,"system:masters"`+"\n"), "--service-account-issuer", "https://kubernetes.test", "--service-account-key-file", accounts, "--service-account-signing-key-file", accounts)
	c := &cluster{t: t, url: "https://127.0.0.1:" + port, ca: filepath.Join(dir, "certs/apiserver.crt"),
		http: http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}} //nolint:gosec // the test's own server
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Second) {
		if code, text := c.ask("GET", "/readyz", "", ""); code == http.StatusOK {
			return c
		} else if time.Now().After(until) {
			log, _ := os.ReadFile(filepath.Join(dir, "api.log"))
			t.Fatalf("the API server is not ready: %d %s\n%s", code, text, log[max(0, len(log)-2000):])
		}
	}
}

// begin starts a program that ends with the test.
func begin(t *testing.T, log, program string, args ...string) {
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = out.Close()
	})
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// ask is a request of the administrator; its status is 0 where there is no answer.
func (c *cluster) ask(method, path, kind, body string) (int, string) {
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, bytes.NewBufferString(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+admin)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	answer, err := c.http.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

func (c *cluster) do(method, path, body string) string {
	c.t.Helper()
	kind := "application/json"
	if method == http.MethodPatch {
		kind = "application/merge-patch+json"
	}
	code, text := c.ask(method, path, kind, body)
	if code < 200 || code > 299 {
		c.t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	return text
}

// account makes a service account that may list and watch some resources, and returns what a spec needs for it.
func (c *cluster) account(name string, resources ...string) string {
	c.do("POST", "/api/v1/namespaces/live/serviceaccounts", fmt.Sprintf(`{"metadata": {"name": %q}}`, name))
	if len(resources) > 0 {
		list, _ := json.Marshal(resources)
		c.do("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", fmt.Sprintf(`{"metadata": {"name": %q}, "rules": [{"apiGroups": [""], "resources": %s, "verbs": ["list", "watch"]}]}`, name, list))
		c.do("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", fmt.Sprintf(`{"metadata": {"name": %q}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": %q}, "subjects": [{"kind": "ServiceAccount", "name": %q, "namespace": "live"}]}`, name, name, name))
	}
	var request struct{ Status struct{ Token string } }
	if err := json.Unmarshal([]byte(c.do("POST", "/api/v1/namespaces/live/serviceaccounts/"+name+"/token", `{"spec": {}}`)), &request); err != nil || request.Status.Token == "" {
		c.t.Fatalf("no token: %v", err)
	}
	path := filepath.Join(c.t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(request.Status.Token+"\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return "api=" + c.url + "&ca_file=" + c.ca + "&token_file=" + path
}

// pod makes one that a kubelet would have started.
func (c *cluster) pod(name, ip string) {
	c.do("POST", "/api/v1/namespaces/live/pods", fmt.Sprintf(`{"metadata": {"name": %q, "labels": {"app": "edge", "stream": "cam-1"}}, "spec": {"nodeName": "node-7", "containers": [{"name": "nginx", "image": "nginx", "ports": [{"containerPort": 1935, "name": "rtmp"}]}]}}`, name))
	c.do("PATCH", "/api/v1/namespaces/live/pods/"+name+"/status", fmt.Sprintf(`{"status": {"phase": "Running", "hostIP": "192.0.2.7", "podIP": %q, "podIPs": [{"ip": %q}], "conditions": [{"type": "Ready", "status": "True"}]}}`, ip, ip))
}

// Pods, nodes, services and endpoints as a real API server has them; pods that come and go while they are followed;
// more nodes than a page has; an account without the right, and a token that is not valid.
func TestKubernetesServer(t *testing.T) {
	c := startCluster(t)
	c.do("POST", "/api/v1/namespaces", `{"metadata": {"name": "live"}}`)
	options := c.account("snag", "pods", "nodes", "services", "endpoints")
	c.pod("edge-1", "198.51.100.21")
	c.do("POST", "/api/v1/namespaces/live/pods", `{"metadata": {"name": "other"}, "spec": {"containers": [{"name": "nginx", "image": "nginx"}]}}`)
	c.do("POST", "/api/v1/namespaces/live/services", `{"metadata": {"name": "edge"}, "spec": {"clusterIP": "198.51.100.9", "selector": {"app": "edge"}, "ports": [{"port": 1935}]}}`)
	c.do("POST", "/api/v1/namespaces/live/endpoints", `{"metadata": {"name": "edge"}, "subsets": [{"addresses": [{"ip": "203.0.113.21", "nodeName": "node-7"}], "notReadyAddresses": [{"ip": "203.0.113.22"}], "ports": [{"port": 1935}]}]}`)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, err := Follow(ctx, "kubernetes:pod?namespace=live&selector=app%3Dedge&"+options)
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
	first := until("198.51.100.21:1935").Targets[0]
	for label, want := range map[string]string{"pod_name": "edge-1", "namespace": "live", "pod_node_name": "node-7", "pod_host_ip": "192.0.2.7", "pod_label_stream": "cam-1", "pod_container_port_name": "rtmp", "pod_ready": "true", "pod_phase": "Running"} {
		if got := first.Labels[kube+label]; got != want {
			t.Errorf("%s is %q, not %q", label, got, want)
		}
	}
	c.pod("edge-2", "198.51.100.22")
	until("198.51.100.21:1935", "198.51.100.22:1935")
	c.do("DELETE", "/api/v1/namespaces/live/pods/edge-1", `{"gracePeriodSeconds": 0}`)
	until("198.51.100.22:1935")

	const nodes = kubePage + 20
	for i := range nodes {
		c.do("POST", "/api/v1/nodes", fmt.Sprintf(`{"metadata": {"name": "node-%d"}, "status": {"addresses": [{"type": "InternalIP", "address": "10.4.%d.%d"}], "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}}}`, i, i/200, i%200+1))
	}
	for spec, want := range map[string]int{"node?": nodes, "endpoints?namespace=live&": 2, "service?namespace=live&": 1} {
		l, err := Targets(ctx, "kubernetes:"+spec+options)
		if err != nil || len(l.Targets) != want || len(l.Problems) > 0 {
			t.Errorf("%s: %d targets of %d, %v %v", spec, len(l.Targets), want, l.Problems, err)
		}
	}
	if _, err := Targets(ctx, "kubernetes:node?"+c.account("nobody")); err == nil || !strings.Contains(err.Error(), "allow the verbs list and watch on nodes to this account") {
		t.Errorf("an account without the right: %v", err)
	}
	wrong := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(wrong, []byte("not.a.token"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Targets(ctx, "kubernetes:node?api="+c.url+"&ca_file="+c.ca+"&token_file="+wrong); err == nil || !strings.Contains(err.Error(), "give a token that is valid") {
		t.Errorf("a token that is not valid: %v", err)
	}
}
