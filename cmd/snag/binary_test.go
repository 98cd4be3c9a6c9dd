package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The bounds of what is shipped have a little room above what it is. Who needs more says in docs/architecture.md what
// for, and moves them.
const (
	mostModules = 62
	mostMB      = 41.7 // linked as the Makefile links it
)

// heavy are modules that no part of snag needs, and that came with one small thing once.
var heavy = []string{
	"github.com/aws/", "github.com/Azure/", "github.com/AzureAD/", "cloud.google.com/", "google.golang.org/api", "google.golang.org/grpc",
	"k8s.io/", "gonum.org/", "github.com/emiago/sipgo", "github.com/gobwas/", "go.opentelemetry.io/", "github.com/stretchr/",
	"github.com/modelcontextprotocol/", "golang.org/x/oauth2",
}

func TestModules(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	modules := map[string]bool{}
	for _, m := range strings.Fields(string(out)) {
		modules[m] = true
	}
	for m := range modules {
		for _, h := range heavy {
			if strings.HasPrefix(m+"/", strings.TrimSuffix(h, "/")+"/") {
				t.Errorf("%s is linked: go mod why -m %s says what for", m, m)
			}
		}
	}
	if n := len(modules); n > mostModules || n < mostModules/2 {
		t.Errorf("%d modules are linked, at most %d are to be", n, mostModules)
	}
}

// A size that grows at once is a module, or reflection by which the linker has to keep every method of every type:
// go build -ldflags=-dumpdep ./cmd/snag 2>&1 | grep ReflectMethod.
func TestSize(t *testing.T) {
	t.Parallel()
	snag := filepath.Join(t.TempDir(), "snag")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", snag, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	st, err := os.Stat(snag)
	if err != nil {
		t.Fatal(err)
	}
	mb := float64(st.Size()) / 1e6
	t.Logf("%.1f MB", mb)
	if mb > mostMB || mb < mostMB/2 {
		t.Errorf("snag has %.1f MB, at most %v are to be", mb, mostMB)
	}
}
