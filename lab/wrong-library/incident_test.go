package wronglibrary

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

var p50 = regexp.MustCompile(`p50_ms ([0-9.]+)`)

// The incident without its baseline: a test binary is no snag that could record it.
func TestTruth(t *testing.T) {
	inc := Incident
	inc.Start = func(s *lab.Stage, v lab.Variant) error {
		s.NoBaseline()
		return start(s, v)
	}
	labtest.Each(t, inc, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(2 * time.Second)
		pid := s.ProcessOf("codec-server").PID
		maps, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`r-xp .*/(good|other)/libcodec\.so\.1`).FindSubmatch(maps)
		if m == nil || (string(m[1]) == "good") != (v == lab.Healthy) {
			t.Errorf("%s: the wrong build is mapped: %s", v, maps)
		}
		all := p50.FindAllStringSubmatch(s.ProcessOf("codec-client").Printed(), -1)
		took, _ := strconv.ParseFloat(all[len(all)-1][1], 64)
		t.Logf("%s: a request takes %.1f ms", v, took)
		if v == lab.Sick && took < 2*Good.Seconds()*1e3 {
			t.Errorf("a request takes %.1f ms", took)
		}
	})
}
