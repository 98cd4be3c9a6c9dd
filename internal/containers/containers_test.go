package containers

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

var (
	first  = strings.Repeat("3f2a9c1b", 8)
	second = strings.Repeat("77aa0011", 8)
)

const uid = "8d2f41aa-0c1d-4b5e-9f3a-0123456789ab"

// serve answers at a socket below a root as a runtime does.
func serve(t *testing.T, root, path string, h http.HandlerFunc) {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, Protocols: &http.Protocols{}}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
}

// short is a folder whose paths fit into a socket's address.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestNoRuntime(t *testing.T) {
	if all, err := List(context.Background(), t.TempDir()); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
}

func TestDocker(t *testing.T) {
	root := short(t)
	serve(t, root, "run/docker.sock", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/containers/json" || r.Method != http.MethodGet {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		fmt.Fprintf(w, `[{"Id":"%s","Names":["/web"],"Labels":{}},{"Id":"%s","Names":["/k8s_app"],"Labels":{"%s":"shop","%s":"web-0","%s":"%s","%s":"app"}},{"Id":"x","Names":["/bad"]}]`,
			first, second, labelNamespace, labelPod, labelUID, uid, labelContainer)
	})
	all, err := List(context.Background(), root)
	if err != nil || len(all) != 2 || all[0].Name != "web" || all[0].ID != first || all[0].Pod.Name != "" ||
		all[1].Name != "app" || all[1].Pod != (Pod{"shop", "web-0", uid}) || all[0].From != filepath.Join(root, "run/docker.sock") {
		t.Errorf("%+v, %v", all, err)
	}
}

// message adds fields of a protobuf message: numbers with texts, or with a number.
func message(parts ...any) []byte {
	var b []byte
	for i := 0; i < len(parts); i += 2 {
		number := protowire.Number(parts[i].(int))
		switch v := parts[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(v))
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
		}
	}
	return b
}

func criServer(answer []byte, status string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 || r.URL.Path != "/runtime.v1.RuntimeService/ListContainers" || r.Header.Get("Content-Type") != "application/grpc" {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		w.Header().Set("Trailer", "Grpc-Status")
		w.Header().Set("Content-Type", "application/grpc")
		head := make([]byte, 5)
		binary.BigEndian.PutUint32(head[1:], uint32(len(answer)))
		_, _ = w.Write(append(head, answer...))
		w.Header().Set("Grpc-Status", status)
	}
}

func TestCRI(t *testing.T) {
	runs := message(1, second, 2, "sandbox", 3, message(1, "app", 2, 3), 6, 1, 7, 1700000000,
		8, message(1, labelPod, 2, "web-0"), 8, message(1, labelNamespace, 2, "shop"), 8, message(1, labelUID, 2, uid))
	ended := message(1, first, 3, message(1, "old"), 6, 2)
	root := short(t)
	serve(t, root, "run/containerd/containerd.sock", criServer(message(1, runs, 1, ended), "0"))
	all, err := List(context.Background(), root)
	if err != nil || len(all) != 1 || all[0].Name != "app" || all[0].Pod != (Pod{"shop", "web-0", uid}) {
		t.Errorf("%+v, %v", all, err)
	}
	for name, h := range map[string]http.HandlerFunc{
		"status \"12\" of gRPC":    criServer(nil, "12"),
		"not a list of containers": criServer([]byte{0x0a, 0xff}, "0"),
	} {
		root := short(t)
		serve(t, root, "run/crio/crio.sock", h)
		if _, err := List(context.Background(), root); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "crio.sock") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A runtime that does not answer costs a second, and hides nothing of the others.
func TestARuntimeThatHangs(t *testing.T) {
	root := short(t)
	stop := make(chan struct{})
	serve(t, root, "run/docker.sock", func(http.ResponseWriter, *http.Request) { <-stop })
	defer close(stop)
	dir := filepath.Join(root, "var/log/containers")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"web-0_shop_app-" + second + ".log", "web-0_shop_app.log", "a-b.txt"} {
		if err := os.Symlink("/var/log/pods/shop_web-0_"+uid+"/app/0.log", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	all, err := List(context.Background(), root)
	if len(all) != 1 || all[0].ID != second || all[0].Name != "app" || all[0].Pod != (Pod{"shop", "web-0", uid}) {
		t.Errorf("%+v", all)
	}
	if err == nil || !strings.Contains(err.Error(), "docker.sock") || time.Since(began) > 20*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

func TestMergeKeepsThePod(t *testing.T) {
	pod := Pod{"shop", "web-0", uid}
	all := merge([]Container{{ID: second, Name: "k8s_app"}, {ID: first, Name: "web"}, {ID: second, Name: "app", Pod: pod}})
	if len(all) != 2 || all[0].ID != first || all[1].Name != "app" || all[1].Pod != pod {
		t.Errorf("%+v", all)
	}
}

// Whatever a runtime answers is an answer or an error.
func FuzzListed(f *testing.F) {
	f.Add(message(1, message(1, second, 3, message(1, "app"), 6, 1)))
	f.Add([]byte{0x0a, 0x02, 0x1a})
	f.Fuzz(func(t *testing.T, b []byte) {
		all, _ := listed(b)
		for _, c := range all {
			if !isID(c.ID) {
				t.Errorf("%q is not an id", c.ID)
			}
		}
	})
}
