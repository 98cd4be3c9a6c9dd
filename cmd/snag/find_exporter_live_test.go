package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/fleet/hosts"
	"snag/internal/built"
	"snag/internal/cli"
	"snag/internal/netns/netnstest"
)

// A host with Debian's node_exporter and no recorder, scraped by Debian's Prometheus: a listener's queue runs over
// and datagrams find a full buffer, in a network namespace of the test. Both are signs; nobody is accused, and
// nobody cleared.
func TestFindInAStoreOfNodeExporter(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: no network namespace")
	}
	var programs []string
	for _, name := range []string{"prometheus", "prometheus-node-exporter"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("no %s: make setup installs Debian's", name)
		}
		programs = append(programs, path)
	}
	t.Parallel()
	if netnstest.Alone(t) {
		return
	}
	snag, store := storeOfNodeExporter(t, programs)
	if found, _, code := fleetOf(t, snag, store); code != cli.ExitCantTell || signOf(found, "listen-overflow") != nil {
		t.Errorf("before anything happens: exit %d, %+v", code, found)
	}
	began := counters(t)
	overflow(t)
	drown(t)
	grown := counters(t)
	for name, n := range began {
		if grown[name] -= n; grown[name] < 10 {
			t.Fatalf("%s grew by %d: nothing ran over", name, grown[name])
		}
	}
	time.Sleep(3 * time.Second) // two scrapes
	found, shown, code := fleetOf(t, snag, store, "--hosts", `role="db"`)
	t.Log(shown)
	later := counters(t) // the kernel goes on with connects that are open
	if code != cli.ExitCantTell || found.Standing != hosts.NotSeen || len(found.Causes) != 0 || len(found.Hosts) != 1 || found.Hosts[0].State != "node_exporter only" {
		t.Fatalf("exit %d: %+v", code, found)
	}
	for sign, counter := range map[string]string{"listen-overflow": "ListenOverflows", "udp-receive-buffer-full": "RcvbufErrors"} {
		// At least what was counted before the last scrape. A rate reaches beyond its first and last sample by up to
		// half of what is between them.
		if got := signOf(found, sign); got == nil || got.Usual != nil || got.Value < 0.8*float64(grown[counter]) || got.Value > 1.5*float64(later[counter]-began[counter]) {
			t.Errorf("%s: %+v, and the counter grew by %d", sign, got, grown[counter])
		}
	}
	if x := found.Hosts[0].Exporter; !strings.Contains(fmt.Sprint(x.Unread), "pressure") || !x.Scraped || x.Instance != "127.0.0.1:9100" {
		t.Errorf("%+v", x)
	}
	for _, want := range []string{"1 host, 0 affected, 1 not seen (node_exporter only)", "CAN'T TELL WHO IS AFFECTED", "db-1 (127.0.0.1:9100)\n", "No client was measured here", "pressure (1)"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q", want)
		}
	}
}

// storeOfNodeExporter starts Prometheus and node_exporter, which are given, and builds snag.
func storeOfNodeExporter(t *testing.T, programs []string) (snag, store string) {
	t.Helper()
	dir := t.TempDir()
	snag = filepath.Join(dir, "snag")
	built.Program(t, "snag", snag)
	started(t, exec.Command(programs[1], "--web.listen-address=127.0.0.1:9100", "--no-collector.pressure"), filepath.Join(dir, "node_exporter.log"))
	config := filepath.Join(dir, "prometheus.yml")
	text := "global: {scrape_interval: 1s}\nscrape_configs:\n- {job_name: node, static_configs: [{targets: ['127.0.0.1:9100'], labels: {host: db-1, role: db}}]}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store = "http://127.0.0.1:9090"
	started(t, exec.Command(programs[0], "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--web.listen-address=127.0.0.1:9090"), filepath.Join(dir, "prometheus.log"))
	within(t, "node_exporter is scraped three times", func() bool {
		resp, err := http.Get(store + "/-/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK && len(answered(t, store, "count_over_time(node_uname_info[1m]) > 2")) > 0
	})
	return snag, store
}

// fleetShown is the document as a reader of the JSON has it.
type fleetShown struct {
	Standing hosts.Standing
	Causes   []any
	Hosts    []struct {
		Name, State string
		Exporter    *struct {
			Instance string
			Scraped  bool
			Signs    []signShown
			Unread   []string `json:"collectors_not_read"`
		} `json:"node_exporter"`
	}
}

type signShown struct {
	Name  string
	Value float64
	Usual *float64
}

func signOf(found fleetShown, name string) *signShown {
	for _, h := range found.Hosts {
		for _, s := range h.Exporter.Signs {
			if s.Name == name {
				return &s
			}
		}
	}
	return nil
}

// fleetOf is what find says of a store, as JSON and as text, with its exit code.
func fleetOf(t *testing.T, snag, store string, args ...string) (found fleetShown, text string, code int) {
	t.Helper()
	args = append([]string{"find", "--fleet", store}, args...)
	run := func(args ...string) []byte {
		out, err := exec.Command(snag, args...).Output()
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		if ended != nil {
			if code = ended.ExitCode(); len(ended.Stderr) > 0 {
				t.Fatalf("%s", ended.Stderr)
			}
		}
		return out
	}
	text = string(run(args...))
	if err := json.Unmarshal(run(append(args, "--json")...), &found); err != nil {
		t.Fatal(err)
	}
	return found, text, code
}

// overflow connects to a listener that never accepts, with room for one.
func overflow(t *testing.T) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Port: 8088, Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 1)); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		go func() {
			if c, err := net.DialTimeout("tcp", "127.0.0.1:8088", 3*time.Second); err == nil {
				time.Sleep(time.Second)
				c.Close()
			}
		}()
	}
	time.Sleep(3 * time.Second)
}

// drown sends datagrams to a socket that nobody reads, and that has room for few.
func drown(t *testing.T) {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	out, err := net.Dial("udp4", c.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for range 500 {
		_, _ = out.Write(make([]byte, 1000))
	}
}

// counters are the kernel's own, of this namespace.
func counters(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	for file, wanted := range map[string][2]string{"/proc/self/net/netstat": {"TcpExt:", "ListenOverflows"}, "/proc/self/net/snmp": {"Udp:", "RcvbufErrors"}} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rows := regexp.MustCompile(`(?m)^`+wanted[0]+`.*$`).FindAllString(string(b), 2)
		names, values := strings.Fields(rows[0]), strings.Fields(rows[1])
		for i, name := range names {
			if name == wanted[1] {
				if out[name], err = strconv.Atoi(values[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return out
}
