package jvm

import (
	"context"
	"math"
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
	"snag/recording/jvmlog"
)

// byPID are the events of a JVM's log, by kind.
func byPID(r *recording.Recording, pid int) map[string][]recording.Event {
	out := map[string][]recording.Event{}
	for _, e := range r.Events {
		if e.Subject.PID == pid && e.Attrs["source"] == jvmlog.Source {
			out[e.Kind] = append(out[e.Kind], e)
		}
	}
	return out
}

// TestLogs follows the logs of running JVMs: by the uptime alone, rotated while they are
// read, in a container's mount and pid namespace, without counters, and one that an
// operator asked for while it ran. The times are held against hsperfdata's.
func TestLogs(t *testing.T) {
	dir := t.TempDir()
	uptime := java(t, nil, "-Xlog:gc*,safepoint:file="+dir+"/gc-%p.log:uptime")
	rotated := java(t, nil, "-Xlog:gc*,safepoint:file="+dir+"/rotated.log:time:filecount=3,filesize=8k")
	bare := java(t, nil, "-XX:-UsePerfData", "-Xlog:safepoint,gc:"+dir+"/bare.log:uptimenanos,tags")
	silent := java(t, nil)
	var inside *exec.Cmd
	if os.Geteuid() == 0 {
		inside = java(t, []string{"unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", `mount -t tmpfs none /tmp; "$@"`, "sh"}, "-Xlog:gc,safepoint:file=/tmp/gc-%p-%t.log")
	}
	asked, err := exec.Command("jcmd", strconv.Itoa(silent.Process.Pid), "VM.log", "output="+dir+"/asked-gc.log", "what=gc,safepoint", "decorators=utctime").CombinedOutput()
	if err != nil {
		t.Fatalf("jcmd: %v\n%s", err, asked)
	}
	time.Sleep(700 * time.Millisecond) // a collection is in it
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Sink: sink, Watch: probe.NewWatch(100), Notice: sink.Notice}
	began := env.Now()
	r, err := Probe.Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(3500 * time.Millisecond)
	r.Stop()
	rec := sink.Recording()
	all := map[string]*exec.Cmd{"uptime": uptime, "rotated": rotated, "bare": bare, "asked": silent}
	if inside != nil {
		all["inside"] = inside
	}
	for name, c := range all {
		pid := pidOf(t, c)
		seen := byPID(rec, pid)
		if len(seen[recording.EventSafepoint]) < 2 || len(seen[recording.EventGCPause]) < 2 {
			t.Errorf("%s: %d safepoints, %d pauses", name, len(seen[recording.EventSafepoint]), len(seen[recording.EventGCPause]))
			continue
		}
		for _, e := range append(seen[recording.EventSafepoint], seen[recording.EventGCPause]...) {
			if e.End < began || e.T > env.Now() || e.Value <= 0 || e.Attrs["collector"] != "" && e.Attrs["collector"] != "Serial" {
				t.Errorf("%s: event %+v", name, e)
			}
		}
		if path, _ := rec.FactOf("jvm."+strconv.Itoa(pid)+".gc-log", 0); !strings.HasSuffix(path, ".log") || strings.Contains(path, "%") {
			t.Errorf("%s: the log is %q", name, path)
		}
		near, far, worst := 0, 0, 0.0
		for _, e := range rec.Events { // those that hsperfdata told
			if e.Kind != recording.EventGCPause || e.Subject.PID != pid || e.Attrs["source"] != "" || e.Value == 0 {
				continue
			}
			best := math.Inf(1)
			for _, l := range seen[recording.EventGCPause] {
				if math.Abs(l.Value-e.Value) < 0.002+0.2*e.Value && l.Attrs["cause"] == e.Attrs["cause"] {
					best = min(best, math.Abs(l.T.Sub(e.T).Seconds()))
				}
			}
			if best < 0.1 {
				near++
			} else if e.End > began {
				far++
			}
			worst = max(worst, best)
		}
		t.Logf("%s: %d safepoints, %d pauses; hsperfdata's %d lie within 0.1 s, %d do not, the worst %.3f s", name, len(seen[recording.EventSafepoint]), len(seen[recording.EventGCPause]), near, far, worst)
		if name != "bare" && (near == 0 || far > near) {
			t.Errorf("%s: %d pauses as hsperfdata has them, %d not", name, near, far)
		}
	}
	if c, ok := rec.Measured(measureLog); !ok || c.State != recording.CoverageOK {
		t.Errorf("coverage %+v", c)
	}
	// What was logged while the log was rotated is all there.
	files, _ := filepath.Glob(dir + "/rotated.log*")
	written := 0
	whole := regexp.MustCompile(`(?m)^\[([^]]+)\] Safepoint "`)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range whole.FindAllStringSubmatch(string(b), -1) {
			if at, err := time.Parse("2006-01-02T15:04:05.000-0700", m[1]); err == nil && at.UnixNano() > int64(began.Add(500*time.Millisecond)) && at.UnixNano() < int64(began.Add(3*time.Second)) {
				written++
			}
		}
	}
	got := 0
	for _, e := range byPID(rec, rotated.Process.Pid)[recording.EventSafepoint] {
		if e.End > began.Add(500*time.Millisecond) && e.End < began.Add(3*time.Second) {
			got++
		}
	}
	if t.Logf("%d files, %d safepoints in them, %d seen", len(files), written, got); got < written-1 || written == 0 {
		t.Errorf("%d safepoints were logged into %d files, %d seen", written, len(files), got)
	}
}

// TestNoLog: a JVM that writes none, whatever others on this machine do.
func TestNoLog(t *testing.T) {
	jvm := javaOf(t, "Idle", nil)
	anchor := probe.NewAnchor()
	env := &probe.Env{Anchor: anchor}
	l := newJournals("/proc", env.Now, func(row recording.Row) { t.Errorf("told %+v", row) })
	l.search(pidOf(t, jvm))
	if c := l.coverage(1, 1, 0); len(l.of) != 0 || c.State != recording.CoverageOff || !strings.Contains(c.Cure, "-Xlog:gc*") {
		t.Errorf("%d logs, coverage %+v", len(l.of), c)
	}
}
