package logsilence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		log := filepath.Join(s.Dir(), "worker.log")
		size := func() int64 {
			st, err := os.Stat(log)
			if err != nil {
				t.Fatal(err)
			}
			return st.Size()
		}
		before := size()
		time.Sleep(2 * time.Second)
		if size() <= before {
			t.Error("the log is silent from the start")
		}
		s.Break()
		time.Sleep(500 * time.Millisecond)
		before = size()
		time.Sleep(2 * time.Second)
		if grew := size() > before; grew != (v == lab.Healthy) {
			t.Errorf("%s: the log grew after its time: %v", v, grew)
		}
		// Who waits: the worker has asked, and the backend has read what it was asked.
		out, err := s.Output(s.Name("app"), "ss", "-Htni", "dst", "10.78.6.2:7400")
		if err != nil || !strings.Contains(out, "lastrcv:") {
			t.Errorf("the connection to the backend: %v\n%s", err, out)
		}
	})
}
