package main

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/internal/built"
	"snag/lab"
)

// twoHosts are network namespaces: edge asks db, both are recorded and serve their recordings, and a store has what the
// recorders send.
type twoHosts struct {
	*lab.Stage
	t         *testing.T
	snag, dir string
	ca        *authority
	service   *lab.Process
}

const (
	fleetEdge, fleetDB, fleetStore = "10.97.0.11", "10.97.0.12", "10.97.0.15"
	fleetURL                       = "http://" + fleetStore + ":9090"
)

func newTwoHosts(t *testing.T) *twoHosts {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root: no network namespaces, no BPF programs")
	}
	for _, tool := range []string{"prometheus", "ip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s: make setup installs it", tool)
		}
	}
	f := &twoHosts{t: t, dir: t.TempDir(), ca: newAuthority(t)}
	f.snag = filepath.Join(f.dir, "snag")
	built.Program(t, "snag", f.snag)
	self := filepath.Join(f.dir, "snag-lab")
	built.Program(t, "snag-lab", self)
	var err error
	if f.Stage, err = lab.NewStage(t.Context(), lab.Options{Self: self, Shared: true, Suffix: "fl", Log: t.Logf}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	var ends []lab.End
	for name, at := range map[string]string{"edge": fleetEdge, "db": fleetDB, "store": fleetStore} {
		ends = append(ends, lab.End{Netns: f.Netns(name), Device: "eth0", Addr: at + "/24"})
	}
	f.Bridge(f.Netns("switch"), ends...)
	return f
}

// start runs the store, the service and its caller, and both hosts' recorders and pages.
func (f *twoHosts) start() {
	f.Run(f.Name("store"), "prometheus", []string{"prometheus", "--config.file=" + f.File("prometheus.yml", "global: {scrape_interval: 15s}\n"), "--storage.tsdb.path=" + filepath.Join(f.dir, "tsdb"),
		"--web.listen-address=" + fleetStore + ":9090", "--web.enable-remote-write-receiver"})
	f.service = f.Actor(f.Name("db"), "pricer", "http-upstream", []string{"--listen", fleetDB + ":8080", "--wait", "5ms"})
	f.AwaitPrinted(f.service, "ready")
	f.Actor(f.Name("edge"), "shop", "http-client", []string{"--url", "http://" + fleetDB + ":8080/", "--conns", "8", "--every", "100ms"})
	f.File("token", "A2345678901234567890\n")
	for name, at := range map[string]string{"edge": fleetEdge, "db": fleetDB} {
		f.ca.sign(name, &x509.Certificate{IPAddresses: []net.IP{net.ParseIP(at)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
		ring := filepath.Join(f.dir, "ring-"+name)
		f.Run("", "record-"+name, []string{"ip", "netns", "exec", f.Name(name), f.snag, "record", "--own-netns", "--ring", ring, "--size", "64MB",
			"--remote-write", fleetURL + "/api/v1/write", "--remote-write-label", "instance=" + name})
		f.Run(f.Name(name), "serve-"+name, []string{f.snag, "serve", "--listen", at + ":9849", "--ring", ring, "--token-file", filepath.Join(f.Dir(), "token"),
			"--tls-cert", f.ca.path(name + ".crt"), "--tls-key", f.ca.path(name + ".key")})
	}
}

var _ = json.Marshal
var _ = fmt.Sprint
var _ = http.StatusOK
var _ = strings.Contains
var _ = time.Second
