package logsilencepipe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestTruth: the log grows until the logger stops to read; then the worker sleeps in a
// write to the pipe. One that keeps its lines back does not.
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
		time.Sleep(1500 * time.Millisecond) // until the pipe is full
		before = size()
		time.Sleep(1500 * time.Millisecond)
		if grew := size() > before; v == lab.Sick && grew || v == lab.Healthy && !grew {
			t.Errorf("%s: the log grew after its time: %v", v, grew)
		}
		if full := waitsOnPipe(t); full != (v == lab.Sick) {
			t.Errorf("%s: the worker sleeps in a write to its pipe: %v", v, full)
		}
	})
}

// waitsOnPipe looks for the worker among all processes, by its name.
func waitsOnPipe(t *testing.T) bool {
	t.Helper()
	all, err := procfs.AllProcs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if comm, err := p.Comm(); err != nil || comm != "log-worker" {
			continue
		}
		threads, err := procfs.AllThreads(p.PID)
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			if in, err := thread.Wchan(); err == nil && strings.HasSuffix(in, "pipe_write") {
				return true
			}
		}
	}
	return false
}
