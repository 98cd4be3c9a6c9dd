package discovery

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// apiServerOf is an API server as far as lists and watches go: pages of a list by path, and a watch's lines as they
// come. It wants the token "t0".
type fakeAPI struct {
	mu      sync.Mutex
	lists   map[string][]string // pages of items by path
	asked   []string
	watches chan string // a line of a watch; "" ends it
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked = append(f.asked, r.URL.String())
	pages, known := f.lists[r.URL.Path]
	f.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer t0":
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"kind":"Status","message":"Unauthorized"}`)
	case !known:
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","message":"pods is forbidden: User \"system:serviceaccount:live:snag\" cannot list resource \"pods\""}`)
	case r.URL.Query().Get("watch") != "":
		w.(http.Flusher).Flush()
		for {
			select {
			case line := <-f.watches:
				if line == "" {
					return
				}
				fmt.Fprintln(w, line)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	default:
		page := 0
		fmt.Sscan(r.URL.Query().Get("continue"), &page)
		more := ""
		if page+1 < len(pages) {
			more = fmt.Sprint(page + 1)
		}
		fmt.Fprintf(w, `{"metadata":{"resourceVersion":"7","continue":%q},"items":[%s]}`, more, pages[page])
	}
}

func podJSON(name, ip string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"live","uid":"u1","resourceVersion":"8","labels":{"app.kubernetes.io/name":"edge"},"ownerReferences":[{"kind":"ReplicaSet","name":"edge-5d","controller":true}]},
		"spec":{"nodeName":"n1","containers":[{"name":"nginx","image":"nginx:1","ports":[{"name":"rtmp","containerPort":1935,"protocol":"TCP"},{"containerPort":80}]}],"initContainers":[{"name":"init"}]},
		"status":{"phase":"Running","podIP":%q,"hostIP":"10.0.0.4","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"nginx","containerID":"containerd://a"}]}}`, name, ip)
}

func startAPI(t *testing.T, lists map[string][]string) (f *fakeAPI, options string) {
	t.Helper()
	f = &fakeAPI{lists: lists, watches: make(chan string)}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("t0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return f, "api=" + s.URL + "&token_file=" + token
}

func TestKubernetesPods(t *testing.T) {
	f, options := startAPI(t, map[string][]string{"/api/v1/namespaces/live/pods": {podJSON("edge-a", "10.244.0.1"), podJSON("edge-b", "10.244.0.2") + "," + podJSON("starting", "")}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, err := Follow(ctx, "kubernetes:pod?namespace=live&selector=app%3Dedge&"+options)
	if err != nil {
		t.Fatal(err)
	}
	first := next(t, all)
	want := []string{"10.244.0.1", "10.244.0.1:1935", "10.244.0.1:80", "10.244.0.2", "10.244.0.2:1935", "10.244.0.2:80"}
	if !slices.Equal(addresses(first.Targets), want) {
		t.Fatalf("%v %v", addresses(first.Targets), first.Err)
	}
	for name, want := range map[string]string{
		"namespace": "live", "pod_name": "edge-a", "pod_ip": "10.244.0.1", "pod_host_ip": "10.0.0.4", "pod_node_name": "n1", "pod_phase": "Running", "pod_ready": "true", "pod_uid": "u1",
		"pod_label_app_kubernetes_io_name": "edge", "pod_labelpresent_app_kubernetes_io_name": "true", "pod_controller_kind": "ReplicaSet", "pod_controller_name": "edge-5d",
		"pod_container_name": "nginx", "pod_container_image": "nginx:1", "pod_container_init": "false", "pod_container_id": "containerd://a",
		"pod_container_port_name": "rtmp", "pod_container_port_number": "1935", "pod_container_port_protocol": "TCP",
	} {
		if got := first.Targets[1].Labels["__meta_kubernetes_"+name]; got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	f.watches <- `{"type":"DELETED","object":` + podJSON("edge-a", "10.244.0.1") + `}`
	if u := next(t, all); !slices.Equal(addresses(u.Targets), want[3:]) {
		t.Errorf("deleted: %v", addresses(u.Targets))
	}
	f.watches <- `{"type":"MODIFIED","object":` + podJSON("edge-b", "10.244.0.3") + `}`
	if u := next(t, all); addresses(u.Targets)[0] != "10.244.0.3" {
		t.Errorf("modified: %v", addresses(u.Targets))
	}
	f.watches <- `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"99"}}}`
	f.watches <- `{"type":"ERROR","object":{"code":410,"message":"too old resource version"}}`
	if u := next(t, all); !slices.Equal(addresses(u.Targets), want) { // it is listed again
		t.Errorf("expired: %v", addresses(u.Targets))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !strings.Contains(f.asked[0], "labelSelector=app%3Dedge") || !strings.Contains(f.asked[2], "resourceVersion=7") {
		t.Errorf("%q", f.asked)
	}
}

func TestKubernetesRoles(t *testing.T) {
	_, options := startAPI(t, map[string][]string{
		"/api/v1/nodes":     {`{"metadata":{"name":"n1","labels":{"zone":"a"}},"spec":{"providerID":"p"},"status":{"addresses":[{"type":"Hostname","address":"n1"},{"type":"InternalIP","address":"10.0.0.4"},{"type":"InternalIP","address":"10.0.0.5"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}}}}`},
		"/api/v1/services":  {`{"metadata":{"name":"web","namespace":"live"},"spec":{"type":"ClusterIP","clusterIP":"10.96.0.1","ports":[{"name":"http","port":80,"protocol":"TCP"}]}}`},
		"/api/v1/endpoints": {`{"metadata":{"name":"web","namespace":"live"},"subsets":[{"addresses":[{"ip":"10.244.0.1","nodeName":"n1","targetRef":{"kind":"Pod","name":"web-1"}}],"notReadyAddresses":[{"ip":"10.244.0.2"}],"ports":[{"name":"http","port":8080,"protocol":"TCP"}]}]}`},
	})
	for role, want := range map[string][]string{
		"node":      {"10.0.0.4:10250", "node_name=n1", "node_address_InternalIP=10.0.0.4", "node_address_Hostname=n1", "node_label_zone=a", "node_provider_id=p"},
		"service":   {"web.live.svc:80", "service_name=web", "namespace=live", "service_cluster_ip=10.96.0.1", "service_type=ClusterIP", "service_port_name=http", "service_port_number=80"},
		"endpoints": {"10.244.0.1:8080", "endpoints_name=web", "endpoint_ready=true", "endpoint_node_name=n1", "endpoint_address_target_name=web-1", "endpoint_port_name=http"},
	} {
		l, err := Targets(t.Context(), "kubernetes:"+role+"?"+options)
		if err != nil || len(l.Targets) == 0 || l.Targets[0].Address != want[0] {
			t.Errorf("%s: %v %v", role, l.Targets, err)
			continue
		}
		for _, pair := range want[1:] {
			name, value, _ := strings.Cut(pair, "=")
			if got := l.Targets[0].Labels["__meta_kubernetes_"+name]; got != value {
				t.Errorf("%s: %s is %q, not %q", role, name, got, value)
			}
		}
		if role == "endpoints" && (len(l.Targets) != 2 || l.Targets[1].Labels["__meta_kubernetes_endpoint_ready"] != "false") {
			t.Errorf("%v", l.Targets)
		}
	}
}

func TestKubernetesErrors(t *testing.T) {
	_, options := startAPI(t, nil)
	_, err := Targets(t.Context(), "kubernetes:pod?namespace=live&"+options)
	if err == nil || !strings.Contains(err.Error(), `cannot list resource "pods"`) || !strings.Contains(err.Error(), "allow the verbs list and watch on pods") {
		t.Error(err)
	}
	api, _, _ := strings.Cut(options, "&")
	if _, err = Targets(t.Context(), "kubernetes:node?"+api); err == nil || !strings.Contains(err.Error(), "give a token that is valid") {
		t.Error(err)
	}
}
