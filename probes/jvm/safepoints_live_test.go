package jvm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// logged matches the JVM's own word for a safepoint (JDK 17, safepoint.cpp).
var logged = regexp.MustCompile(`Safepoint "(\w+)",.* Total: *(\d+) ns`)

// TestSafepoints holds the safepoints that snag saw against those that the JVM itself
// logged: each with its operation and length; and who asked for that of an operator.
func TestSafepoints(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for uprobes")
	}
	log := filepath.Join(t.TempDir(), "safepoints.log")
	jvm := java(t, nil, "-Xlog:safepoint:file="+log+"::filecount=0")
	other := java(t, nil)
	pid := pidOf(t, jvm)
	sink := probetest.NewSink()
	closer := probe.NewWatch(8)
	closer.Add(pid, "test")
	closer.Add(1<<22+1, "no such process")
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Sink: sink, Watch: probe.NewWatch(100), Closer: closer, Notice: sink.Notice}
	r, err := Probe.Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond) // attached by now
	before := lines(t, log)
	time.Sleep(1500 * time.Millisecond)
	if out, err := exec.Command("jcmd", strconv.Itoa(pid), "Thread.print").CombinedOutput(); err != nil {
		t.Fatalf("jcmd: %v\n%s", err, out)
	}
	time.Sleep(700 * time.Millisecond)
	after := lines(t, log)
	time.Sleep(1200 * time.Millisecond)
	r.Stop()
	rec := sink.Recording()
	seen := map[string][]recording.Event{}
	operator := false
	for _, e := range rec.Events {
		if e.Kind != recording.EventSafepoint {
			continue
		}
		if e.Subject.PID != pid {
			if e.Subject.PID != other.Process.Pid { // it may have stood still for long
				t.Errorf("a safepoint of process %d: %+v", e.Subject.PID, e)
			}
			continue
		}
		seen[e.Attrs["operation"]] = append(seen[e.Attrs["operation"]], e)
		to, err := strconv.ParseFloat(e.Attrs["to_safepoint"], 64)
		if err != nil || to < 0 || to > e.Value {
			t.Errorf("to_safepoint of %+v", e)
		}
		if strings.Contains(e.Attrs["asked_by"], "operator") {
			operator = true
		}
	}
	if len(after)-len(before) < 3 {
		t.Fatalf("the JVM logged %d safepoints", len(after)-len(before))
	}
	for _, line := range after[len(before):] {
		m := logged.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		ns, _ := strconv.ParseFloat(m[2], 64)
		if !near(seen[m[1]], ns/1e9) {
			t.Errorf("the JVM logged %s of %.3f ms; seen %v", m[1], ns/1e6, seen[m[1]])
		}
	}
	if !operator {
		t.Errorf("nobody asked for the threads: %+v", seen)
	}
	if c, ok := rec.Measured(measureSafepoints); !ok || c.State != recording.CoverageOK || c.Lost != 0 {
		t.Errorf("coverage %+v", c)
	}
}

// near tells whether one of the events took that long: the JVM looks at its clock a
// little inside of the probes.
func near(all []recording.Event, seconds float64) bool {
	for _, e := range all {
		if d := e.Value - seconds; d > -0.0005 && d < 0.002+0.2*seconds {
			return true
		}
	}
	return false
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// TestNobodyIsTouched: a JVM that nobody asks for and that does not stand still has
// no probe in it, and the coverage says that its safepoints were not measured.
func TestNobodyIsTouched(t *testing.T) {
	javaOf(t, "Idle", nil)
	time.Sleep(500 * time.Millisecond) // its compiler is at rest
	rec := run(t, 1500*time.Millisecond)
	if c, ok := rec.Measured(measureSafepoints); ok || c.State != recording.CoverageOff {
		t.Errorf("coverage %+v", c)
	}
}

func TestAStopAsAnEvent(t *testing.T) {
	var s safepointStop
	s.Asked, s.Stopped, s.End, s.Pid, s.By = 1e9, 1_002_000_000, 1_500_000_000, 7, 8
	copy(s.Name[:], "ThreadDump\x00rest")
	copy(s.Comm[:], attachListener)
	e := eventOf(s, recording.Anchor{}, "java")
	if e.Value != 0.5 || e.End.Sub(e.T) != 500*time.Millisecond || e.Attrs["operation"] != "ThreadDump" || e.Attrs["to_safepoint"] != "0.002000" || !strings.Contains(e.Attrs["asked_by"], "operator") {
		t.Errorf("%+v", e)
	}
	if _, ok := decodeStop(make([]byte, 10)); ok {
		t.Error("half a record is one")
	}
	if cString([]byte("G1\xff")) != "G1" {
		t.Error("bytes that are not name")
	}
}
