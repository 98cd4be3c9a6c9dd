package bufferbloat

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

var (
	answers = regexp.MustCompile(`p50_ms ([0-9.]+)`)
	held    = regexp.MustCompile(`backlog (\d+)(K?)b`)
)

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(3 * time.Second)
		out, err := s.Output(s.Name("router"), "tc", "-s", "qdisc", "show", "dev", "eth0")
		if err != nil {
			t.Fatal(err)
		}
		m := held.FindStringSubmatch(out)
		all := answers.FindAllStringSubmatch(s.ProcessOf("app-client").Printed(), -1)
		if m == nil || len(all) == 0 {
			t.Fatalf("no backlog in %q, or no answers printed", out)
		}
		backlog, _ := strconv.Atoi(m[1])
		if m[2] == "K" {
			backlog *= 1024
		}
		p50, _ := strconv.ParseFloat(all[len(all)-1][1], 64)
		t.Logf("%s: backlog %d bytes, a request takes %.1f ms", v, backlog, p50)
		// At 8 Mbit/s, 1 MB/s, a backlog of 400 kB is 400 ms.
		switch {
		case v == lab.Sick && (backlog < 200_000 || p50 < 250):
			t.Error("no deep queue stands")
		case v == lab.Healthy && p50 > 150:
			t.Error("requests wait")
		case v == lab.Distractor && (backlog > 100_000 || p50 < 390):
			t.Error("want a long path without a queue")
		}
	})
}
