package smallreceivewindow

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

var received = regexp.MustCompile(`received (\d+) bytes`)

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		got := func() int {
			all := received.FindAllStringSubmatch(s.ProcessOf("upload-server").Printed(), -1)
			if len(all) == 0 {
				return 0
			}
			n, _ := strconv.Atoi(all[len(all)-1][1])
			return n
		}
		first := got()
		time.Sleep(5 * time.Second)
		rate := float64(got()-first) / 5
		t.Logf("%s: %.0f bytes/s came", v, rate)
		// SO_RCVBUF of 64 KiB offers about as much window: 100 ms make 655 kB/s.
		switch {
		case v == lab.Sick && (rate < 200_000 || rate > 900_000):
			t.Error("want the rate of a window of 64 KiB over 100 ms")
		case v == lab.Healthy && rate < 1_200_000:
			t.Error("want the rate that is offered")
		case v == lab.Distractor && (rate < 300_000 || rate > 700_000):
			t.Error("want the rate of the reader")
		}
	})
}
