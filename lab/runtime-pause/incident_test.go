package runtimepause

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

// pause is a line of the JVM's own log: "GC(20) Pause Full (Allocation Failure) 430M->308M(445M) 469.927ms".
var pause = regexp.MustCompile(`Pause Full \(([^)]*)\).* ([0-9.]+)ms`)

func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(5 * time.Second)
		log, err := os.ReadFile(filepath.Join(s.Dir(), "gc.log"))
		if err != nil {
			t.Fatal(err)
		}
		long, longest := 0, 0.0
		for _, m := range pause.FindAllStringSubmatch(string(log), -1) {
			ms, err := strconv.ParseFloat(m[2], 64)
			if err != nil || m[1] != "Allocation Failure" {
				t.Errorf("a collection %q, %v", m[0], err)
			}
			if longest = max(longest, ms); ms >= 200 {
				long++
			}
		}
		late := worst(s.ProcessOf("client").Printed())
		t.Logf("the JVM's log has %d full collections of 200 ms and more, the longest took %.0f ms; the client waited up to %.0f ms", long, longest, late)
		if (v == lab.Sick) != (long >= 2) {
			t.Errorf("%s: %d long collections", v, long)
		}
		if v == lab.Sick && late < 0.5*longest {
			t.Errorf("the client waited up to %.0f ms only", late)
		}
	})
}
