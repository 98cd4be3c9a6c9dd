package cputhrottled

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

var p50 = regexp.MustCompile(`p50_ms ([0-9.]+)`)

func TestTruth(t *testing.T) {
	latency := map[lab.Variant]float64{}
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(4 * time.Second)
		latency[v] = median(t, s)
		t.Logf("%s: p50 %.1f ms", v, latency[v])
	})
	// A ratio to the twins of the same minute: the machine may be busy.
	for _, twin := range []lab.Variant{lab.Healthy, lab.Distractor} {
		if latency[lab.Sick] < 2*latency[twin] {
			t.Errorf("p50 %.1f ms when throttled, %.1f ms when %s: no harm to be seen", latency[lab.Sick], latency[twin], twin)
		}
	}
}

func median(t *testing.T, s *lab.Stage) float64 {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(s.Dir(), "api-client-*.out"))
	if len(files) != 1 {
		t.Fatalf("output of api-client: %v", files)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	m := p50.FindAllStringSubmatch(string(raw), -1)
	if m == nil {
		t.Fatalf("no latencies in %q", raw)
	}
	v, err := strconv.ParseFloat(m[len(m)-1][1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
