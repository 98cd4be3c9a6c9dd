package remotewrite

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/recording"
)

// Names that need escaping, as a real store has them.
var odd = map[string]string{
	"plain": "nginx", "spaces": "java[7] in a, b = c", "quotes": `the "best" one's`, "lines": "two\nlines", "backslash": `dev-disk-by\x2duuid`,
	"ends": `C:\`, "before": `a\,b\ c`, "unicode": "süß 你好 …",
}

// A real InfluxDB takes what is sent, and has it as it was but for control characters and backslashes that
// would escape.
func TestARealInfluxDB(t *testing.T) {
	influxd, err := exec.LookPath("influxd")
	if err != nil {
		t.Skip("no influxd: make setup installs Debian's influxdb")
	}
	dir := t.TempDir()
	addr, rpc := freeAddr(t), freeAddr(t)
	config := fmt.Sprintf("reporting-disabled = true\nbind-address = %q\n[meta]\ndir = %q\n[data]\ndir = %q\nwal-dir = %q\n[http]\nbind-address = %q\nlog-enabled = false\n[monitor]\nstore-enabled = false\n",
		rpc, filepath.Join(dir, "meta"), filepath.Join(dir, "data"), filepath.Join(dir, "wal"), addr)
	file := filepath.Join(dir, "influxdb.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	serving(t, "http://"+addr+"/ping", exec.Command(influxd, "-config", file))
	ask := func(q string) string {
		resp, err := http.PostForm("http://"+addr+"/query", url.Values{"db": {"snag"}, "q": {q}})
		if err != nil {
			t.Fatal(err)
		}
		return body(t, resp)
	}
	ask("CREATE DATABASE snag")
	sendOdd(t, "http://"+addr+"/write?db=snag")
	var answer struct {
		Results []struct {
			Series []struct {
				Columns []string
				Values  [][]any
			}
		}
	}
	text := ask(`SELECT value, kind, subject FROM snag_incident_culprit`)
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Results) != 1 || len(answer.Results[0].Series) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	got := map[string]string{}
	for _, row := range answer.Results[0].Series[0].Values {
		got[fmt.Sprint(row[2])] = fmt.Sprint(row[3])
		if row[0] != at.Wall().Format(time.RFC3339Nano) || row[1] != 1.5 {
			t.Errorf("%v", row)
		}
	}
	compareOdd(t, got)
}

// VictoriaMetrics takes the same lines, and reads backslashes otherwise.
func TestARealVictoriaMetrics(t *testing.T) {
	victoria, err := exec.LookPath("victoria-metrics")
	if err != nil {
		t.Skip("no victoria-metrics: apt-get install victoria-metrics")
	}
	addr := freeAddr(t)
	serving(t, "http://"+addr+"/health", exec.Command(victoria, "-httpListenAddr", addr, "-storageDataPath", t.TempDir(), "-retentionPeriod", "100y", "-search.latencyOffset", "0s"))
	sendOdd(t, "http://"+addr+"/write?db=snag")
	var text string
	got := map[string]string{}
	await(t, "that all series are there", func() bool {
		resp, err := http.Get("http://" + addr + "/api/v1/export?match[]=snag_incident_culprit_value")
		if err != nil {
			t.Fatal(err)
		}
		text = body(t, resp)
		return strings.Count(text, "\n") == len(odd)
	})
	for l := range strings.Lines(text) {
		var one struct {
			Metric map[string]string
			Values []float64
		}
		if err := json.Unmarshal([]byte(l), &one); err != nil || len(one.Values) != 1 || one.Values[0] != 1.5 {
			t.Errorf("%v: %s", err, l)
		}
		got[one.Metric["kind"]] = one.Metric["subject"]
	}
	compareOdd(t, got)
}

func sendOdd(t *testing.T, to string) {
	t.Helper()
	s, n := aSender(t, "http://127.0.0.1:1", func(o *Options) {
		o.URL, o.Format = to, Influx
	})
	for kind, subject := range odd {
		s.Sample(at, "snag_incident_culprit", recording.Labels{"kind": kind, "subject": subject}, 1.5)
	}
	stop := running(t, s)
	await(t, "a request that is taken", func() bool { c := s.Counts(); return c.Sent > 0 || c.Refused > 0 })
	stop()
	if c := s.Counts(); c.Refused != 0 || len(n.said()) != 0 {
		t.Errorf("%+v, %q", c, n.said())
	}
}

func compareOdd(t *testing.T, got map[string]string) {
	t.Helper()
	for kind, subject := range odd {
		want := subject
		switch kind {
		case "lines":
			want = "two lines"
		case "ends":
			want = "C:/"
		case "before":
			want = "a/,b/ c"
		}
		if got[kind] != want {
			t.Errorf("%s is %q, want %q", kind, got[kind], want)
		}
	}
	if len(got) != len(odd) {
		t.Errorf("%q", got)
	}
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// serving runs a server until the test ends, and waits until it answers.
func serving(t *testing.T, health string, cmd *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	await(t, cmd.Path+" answers", func() bool {
		resp, err := http.Get(health)
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode/100 == 2
	})
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		t.Fatalf("%s, %v: %s", resp.Status, err, b)
	}
	return string(b)
}
