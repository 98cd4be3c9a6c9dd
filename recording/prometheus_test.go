package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func tool(t *testing.T, name string) string {
	t.Helper()
	p, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not installed (Debian package prometheus): %v: make setup", name, err)
	}
	return p
}

func TestPromtoolReadsTheBlock(t *testing.T) {
	promtool := tool(t, "promtool")
	dir := written(t, 30, Options{})
	out, err := exec.Command(promtool, "tsdb", "list", filepath.Join(dir, samplesDir)).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 2 {
		t.Fatalf("promtool tsdb list: %v\n%s", err, out)
	}
	// BLOCK ULID, MIN TIME, MAX TIME, DURATION, NUM SAMPLES, NUM CHUNKS, NUM SERIES, SIZE
	if f := strings.Fields(lines[1]); len(f) < 7 || f[4] != "120" || f[6] != "4" {
		t.Errorf("promtool sees %q, want 120 samples of 4 series", lines[1])
	}
	out, err = exec.Command(promtool, "tsdb", "dump", filepath.Join(dir, samplesDir)).Output()
	if err != nil {
		t.Fatalf("promtool tsdb dump: %v\n%s", err, out)
	}
	if n := bytes.Count(out, []byte{'\n'}); n != 120 {
		t.Errorf("promtool dumps %d samples, want 120", n)
	}
	want := fmt.Sprintf(`{__name__="node_softnet_processed_total", cpu="2"} 29002 %d`, millis(start.Add(29*time.Second+2*time.Millisecond)))
	if !bytes.Contains(out, []byte(want+"\n")) {
		t.Errorf("the dump lacks %s", want)
	}
	// promtool leaves an empty chunks_head: no damage.
	wantDamage(t, mustOpen(t, dir))
}

func TestPrometheusAnswersFromIt(t *testing.T) {
	sealed := written(t, 30, Options{})
	t.Run("a finished recording", func(t *testing.T) { askPrometheus(t, sealed, 30) })
	t.Run("a log that was not sealed", func(t *testing.T) { askPrometheus(t, unsealed(t, 30), 30) })
	t.Run("one with chunks that are full", func(t *testing.T) {
		dir := unsealed(t, 3*samplesPerChunk)
		if found, _ := filepath.Glob(filepath.Join(dir, samplesDir, chunksHeadDir, "0*")); len(found) != 1 {
			t.Fatalf("mapped files %q", found)
		}
		askPrometheus(t, dir, 3*samplesPerChunk)
	})
}

// unsealed is a recording of so many seconds whose writer goes on.
func unsealed(t *testing.T, seconds int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	for i := range seconds {
		w.Sample(start.Add(time.Duration(i)*time.Second), "node_load1", nil, 0.1*float64(i))
		for c := range 3 {
			w.Sample(start.Add(time.Duration(i)*time.Second+time.Duration(c)*time.Millisecond), "node_softnet_processed_total", Labels{"cpu": fmt.Sprint(c)}, float64(1000*i+c))
		}
	}
	if err := w.flush(true); err != nil {
		t.Fatal(err)
	}
	return dir
}

// askPrometheus compares what Debian's Prometheus reads with what Open reads, of a recording of so many seconds.
func askPrometheus(t *testing.T, dir string, seconds int) {
	prometheus := tool(t, "prometheus")
	home := t.TempDir()
	data := filepath.Join(home, "data") // a copy: Prometheus writes to its folder
	if err := os.CopyFS(data, os.DirFS(filepath.Join(dir, samplesDir))); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(home, "prometheus.yml")
	if err := os.WriteFile(config, []byte("global: {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	var log bytes.Buffer
	cmd := exec.Command(prometheus, "--config.file="+config, "--storage.tsdb.path="+data, "--web.listen-address="+addr,
		"--query.lookback-delta=5s", "--storage.tsdb.retention.time=100y")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	defer func() {
		cmd.Process.Kill()
		<-gone
	}()
	for i := 0; ; i++ {
		if res, err := http.Get("http://" + addr + "/-/ready"); err == nil {
			res.Body.Close()
			if res.StatusCode == 200 {
				break
			}
		}
		select {
		case err := <-gone:
			gone <- err
			t.Fatalf("prometheus ended: %v\n%s", err, log.String())
		case <-time.After(100 * time.Millisecond):
		}
		if i > 200 {
			t.Fatal("prometheus is not ready after 20 s")
		}
	}
	r := mustOpen(t, dir)
	end := start.Add(time.Duration(seconds-1)*time.Second + 2*time.Millisecond)
	got := promQuery(t, addr, `{__name__=~".+"}[1h]`, end)
	if len(got) != 4 || len(r.Series) != 4 {
		t.Fatalf("prometheus has %d series, Open %d, want 4", len(got), len(r.Series))
	}
	for _, s := range r.Series {
		var text strings.Builder
		for _, p := range s.Points {
			fmt.Fprintf(&text, "%d %v\n", millis(p.T), p.V)
		}
		if got[s.Key()] != text.String() {
			t.Errorf("%s: prometheus has\n%swant\n%s", s.Key(), got[s.Key()], text.String())
		}
	}
	// A gap is seen after 5 s.
	if got := promQuery(t, addr, "node_load1", end.Add(6*time.Second)); len(got) != 0 {
		t.Errorf("6 s after the last sample: %v", got)
	}
	rate := promQuery(t, addr, `increase(node_softnet_processed_total{cpu="0"}[20s])`, end)
	if len(rate) != 1 {
		t.Errorf("increase: %v", rate)
	}
}

// promQuery returns "ms value" lines by series.
func promQuery(t *testing.T, addr, expr string, at Time) map[string]string {
	t.Helper()
	q := url.Values{"query": {expr}, "time": {strconv.FormatFloat(at.Seconds(), 'f', 3, 64)}}
	res, err := http.Get("http://" + addr + "/api/v1/query?" + q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var a struct {
		Status string
		Error  string
		Data   struct {
			Result []struct {
				Metric map[string]string
				Value  []any
				Values [][]any
			}
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil || a.Status != "success" {
		t.Fatalf("%s: %v %s", expr, err, a.Error)
	}
	out := map[string]string{}
	for _, s := range a.Data.Result {
		if s.Value != nil {
			s.Values = append(s.Values, s.Value)
		}
		var text strings.Builder
		for _, v := range s.Values {
			f, err := strconv.ParseFloat(v[1].(string), 64)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "%d %v\n", int64(v[0].(float64)*1000+0.5), f)
		}
		name := s.Metric["__name__"]
		delete(s.Metric, "__name__")
		out[Series{Name: name, Labels: s.Metric}.Key()] = text.String()
	}
	return out
}
