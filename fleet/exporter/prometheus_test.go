package exporter

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/fleet/prom"
)

// series writes what a scrape each 15 s has, as OpenMetrics: value of so many seconds before now, false where there was
// no scrape.
type series struct {
	bytes.Buffer
}

func (b *series) add(name, labels string, value func(before float64) (v float64, ok bool)) {
	for before := 4500.0; before >= 0; before -= 15 {
		if v, ok := value(before); ok {
			fmt.Fprintf(b, "%s{%s} %g %d\n", name, labels, v, now.Unix()-int64(before))
		}
	}
}

// stays is a value that does not change.
func stays(v float64) func(float64) (float64, bool) {
	return func(float64) (float64, bool) { return v, true }
}

// TestOnPrometheus has what PromQL makes of counters: a real Prometheus with made-up series of an hour and a quarter.
func TestOnPrometheus(t *testing.T) {
	url := startPrometheus(t, madeUp)
	client, err := prom.New(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	hs, err := Find(t.Context(), client, "", now)
	if err != nil {
		t.Fatal(err)
	}
	if err := hs.Read(t.Context(), client, hs.All); err != nil {
		t.Fatal(err)
	}
	if len(hs.Failed) > 0 {
		t.Errorf("%q", hs.Failed)
	}
	var got strings.Builder
	for _, h := range hs.All {
		fmt.Fprintln(&got, h.Name, h.Scraped, h.Instance)
		for _, s := range h.Signs {
			fmt.Fprintln(&got, "-", s)
		}
		if h.Name != "gone" && len(h.Unread) < 12 {
			t.Errorf("%s: collectors that are off are not named: %v", h.Name, h.Unread)
		}
	}
	const want = `booted true 10.0.0.2:9100
- rebooted: booted 2 min 0 s before
- listen-overflow: 60 connects dropped, an accept queue was full (usual 0)
gone false 10.0.0.4:9100
grows true 10.0.0.1:9100
- listen-overflow: 300 connects dropped, an accept queue was full (usual 0)
- cpu-saturated: 4 CPUs busy 95 % of the time (usual 95 %)
young true localhost:9100
- listen-overflow: 300 connects dropped, an accept queue was full (usual not known)
`
	if got.String() != want {
		t.Errorf("%s", got.String())
	}
	// Half an hour before, nothing had happened yet, and the host that is gone was there.
	hs, err = Find(t.Context(), client, "", now.Add(-31*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if err := hs.Read(t.Context(), client, hs.All); err != nil {
		t.Fatal(err)
	}
	for _, h := range hs.All {
		if !h.Scraped || len(h.Signs) != map[string]int{"grows": 1}[h.Name] {
			t.Errorf("half an hour before: %s %t %v", h.Name, h.Scraped, h.Signs)
		}
	}
	if len(hs.All) != 3 {
		t.Errorf("half an hour before: %d hosts", len(hs.All))
	}
}

// madeUp are the series of five hosts.
func madeUp(b *series) {
	const overflows, cpu, boot, uname = "node_netstat_TcpExt_ListenOverflows", "node_cpu_seconds_total", "node_boot_time_seconds", "node_uname_info"
	long := func(float64) (float64, bool) { return float64(now.Unix() - 1e6), true }
	// The counter is high, and grew by 300 in the last 4 min alone. Two replicas of a Prometheus have it.
	for _, replica := range []string{"a", "b"} {
		l := `instance="10.0.0.1:9100",replica="` + replica + `"`
		b.add(uname, l+`,nodename="grows"`, stays(1))
		b.add(boot, l, long)
		b.add(overflows, l, func(before float64) (float64, bool) { return 1e6 + 300*max(0, 240-before)/240, true })
		for c := range 4 {
			for _, mode := range []string{"idle", "user", "iowait"} {
				b.add(cpu, fmt.Sprintf(`%s,cpu="%d",mode="%s"`, l, c, mode), func(before float64) (float64, bool) {
					share := map[string]float64{"idle": 0.05, "user": 0.95}[mode] // since before the hour
					return 1e5 + share*(4500-before), true
				})
			}
		}
	}
	// Booted 2 min before: the counter fell from a million to zero and grew to 60.
	l := `instance="10.0.0.2:9100"`
	b.add(uname, l+`,nodename="booted"`, stays(1))
	b.add(boot, l, func(before float64) (float64, bool) {
		if before < 120 {
			return float64(now.Unix() - 120), true
		}
		return float64(now.Unix() - 1e6), before > 150
	})
	b.add(overflows, l, func(before float64) (float64, bool) {
		if before < 120 {
			return 0.5 * (120 - before), true
		}
		return 1e6, before > 150
	})
	// Known for 5 min: nothing is usual.
	l = `instance="localhost:9100",host="young"`
	b.add(uname, l+`,nodename="vm"`, func(before float64) (float64, bool) { return 1, before <= 300 })
	b.add(boot, l, func(before float64) (float64, bool) { return float64(now.Unix() - 1e6), before <= 300 })
	b.add(overflows, l, func(before float64) (float64, bool) { return 300 - before, before <= 300 })
	// Gone for half an hour.
	b.add(uname, `instance="10.0.0.4:9100",nodename="gone"`, func(before float64) (float64, bool) { return 1, before > 1800 })
	// What a recorder of snag sends has the same names, and is no node_exporter's.
	b.add(overflows, `instance="edge-1"`, func(before float64) (float64, bool) { return 4500 - before, true })
}

// startPrometheus runs Debian's on loopback, with these series, until the test ends.
func startPrometheus(t *testing.T, fill func(*series)) (url string) {
	t.Helper()
	for _, name := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no %s: make setup installs Debian's prometheus", name)
		}
	}
	dir := t.TempDir()
	var b series
	fill(&b)
	b.WriteString("# EOF\n")
	file, config := filepath.Join(dir, "series"), filepath.Join(dir, "prometheus.yml")
	for path, text := range map[string][]byte{file: b.Bytes(), config: nil} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	if out, err := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", file, data).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	var log bytes.Buffer
	cmd := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+data, "--web.listen-address="+address, "--storage.tsdb.retention.time=100y")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for range 200 {
		if resp, err := http.Get("http://" + address + "/-/ready"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return "http://" + address
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("Prometheus is not ready after 20 s: %s", log.String())
	return ""
}
