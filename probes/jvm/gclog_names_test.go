package jvm

import (
	"strings"
	"testing"
	"time"

	"snag/internal/gclog"
	"snag/recording"
)

func TestWantedLogs(t *testing.T) {
	for _, c := range []struct {
		cmdline, environ string
		yes, no          []string
		stdout           bool
	}{
		{"java\x00-Xlog:gc*,safepoint:file=/var/log/app/gc-%p-%t.log:time,uptime:filecount=5\x00Main\x00", "", []string{"/var/log/app/gc-12-2026-11-21_16-00-00.log", "/srv/gc-1-x.log.3"}, []string{"/var/log/app/gc.log", "/var/log/app/app.log"}, false},
		{"java\x00-Xloggc:logs/gc.log\x00-XX:+PrintGCDetails\x00", "", []string{"/x/logs/gc.log", "/x/logs/gc.log.0.current", "/x/logs/gc.log.12"}, []string{"/x/logs/other.log"}, false},
		{"java\x00-XX:+PrintGCDetails\x00", "", nil, []string{"/x/gc.log"}, true},
		{"java\x00Main\x00", "PATH=/bin\x00JAVA_TOOL_OPTIONS=-Dx=y -Xlog:gc:pauses.txt\x00", []string{"/tmp/pauses.txt"}, []string{"/tmp/x"}, false},
		{"java\x00Main\x00", "JDK_JAVA_OPTIONS=-Xlog:safepoint:file=\"sp.log\":uptime\x00OTHER=-Xloggc:no.log\x00", []string{"/tmp/sp.log"}, []string{"/tmp/no.log"}, false},
		{"java\x00-Xlog:gc\x00", "", nil, nil, true},
		{"java\x00-Xlog:class+load:file=classes.log\x00-Xlog:disable\x00", "", nil, []string{"/x/classes.log"}, false},
		{"java\x00-Xlog:gc:stderr\x00-Xlog::file=\"/x y/all.log\"\x00", "", []string{"/x y/all.log"}, nil, true},
		{"java\x00-Xlog:gc:\x00-Xloggc:\x00-Xlog:gc:file=\x00", "", nil, []string{"", "/", "."}, true},
	} {
		w := wantedLogs(c.cmdline, c.environ)
		for _, f := range c.yes {
			if !w.is(f) {
				t.Errorf("%q: %s is none of %q", c.cmdline, f, w.names)
			}
		}
		for _, f := range c.no {
			if w.is(f) {
				t.Errorf("%q: %s is one of %q", c.cmdline, f, w.names)
			}
		}
		if w.stdout != c.stdout {
			t.Errorf("%q %q: standard output %v", c.cmdline, c.environ, w.stdout)
		}
	}
	for pattern, names := range map[string][2]string{"a*c*e": {"abcde", "abde"}, "*": {"x", "x"}, "gc*.log": {"gc.log", "gc.txt"}} {
		if !like(pattern, names[0]) || like(pattern, names[1]) && names[0] != names[1] {
			t.Errorf("%s is like %q", pattern, names)
		}
	}
}

func FuzzWantedLogs(f *testing.F) {
	f.Add("java\x00-Xlog:gc*:file=\"gc-%p.log\":time\x00", "JAVA_TOOL_OPTIONS=-Xloggc:x\x00", "/a/gc-1.log.0.current")
	f.Fuzz(func(t *testing.T, cmdline, environ, file string) {
		w := wantedLogs(cmdline, environ)
		if w.is(file) && len(w.names) == 0 {
			t.Errorf("%q is one of none", file)
		}
	})
}

func TestTheClocksOfALog(t *testing.T) {
	var c logClock
	if _, ok := c.at(gclog.Stamp{Uptime: 1, HasUptime: true, Nanos: 1, HasNanos: true}); ok {
		t.Error("a time by clocks that nothing joined")
	}
	c.join(gclog.Stamp{Uptime: 2 * time.Second, HasUptime: true, Nanos: 5e9, HasNanos: true}, 100e9)
	c.join(gclog.Stamp{Uptime: 3 * time.Second, HasUptime: true, Nanos: 6e9, HasNanos: true}, 102e9) // written late
	c.wall = -time.Second
	for _, s := range []struct {
		stamp gclog.Stamp
		want  recording.Time
	}{
		{gclog.Stamp{Uptime: time.Second, HasUptime: true}, 99e9},
		{gclog.Stamp{Nanos: 4e9, HasNanos: true}, 99e9},
		{gclog.Stamp{Wall: 100e9, HasWall: true, Uptime: time.Second, HasUptime: true}, 99e9},
	} {
		if got, ok := c.at(s.stamp); !ok || got != s.want {
			t.Errorf("%+v is at %d, %v; want %d", s.stamp, got, ok, s.want)
		}
	}
	if _, ok := c.at(gclog.Stamp{}); ok {
		t.Error("a line without a clock has a time")
	}
}

func TestLoggedEvents(t *testing.T) {
	c, sub := &logClock{}, recording.Subject{Kind: recording.KindProcess, PID: 7}
	at := gclog.Stamp{Wall: 50e9, HasWall: true}
	for _, e := range []gclog.Event{
		{Kind: gclog.Concurrent, Start: at, Length: 1}, {Kind: gclog.Collection, Start: at, Length: 1},
		{Kind: gclog.Stall, Generation: "young", Thread: "ZWorkerYoung#0", Start: at, Length: 1}, {Kind: gclog.Pause, Start: at, Length: gclog.Unknown}, {Kind: gclog.Pause, Length: 1},
	} {
		if got, ok := eventLogged(&e, c, sub); ok {
			t.Errorf("%+v is an event: %+v", e, got)
		}
	}
	stall, ok := eventLogged(&gclog.Event{Kind: gclog.Stall, Name: "Allocation Stall", Thread: "http-1", Collector: "ZGC", Start: at, Length: time.Second}, c, sub)
	if !ok || stall.Kind != recording.EventAllocStall || stall.T != 50e9 || stall.End != 51e9 || stall.Value != 1 || stall.Attrs["thread"] != "http-1" || stall.Attrs["collector"] != "ZGC" || stall.Attrs["source"] != ofLog {
		t.Errorf("%+v", stall)
	}
	for text, want := range map[string]string{"http-1": "http-1", "\x1b[2Jx\xff": "?[2Jx\ufffd", strings.Repeat("é", 60): strings.Repeat("é", 40) + "…", "": ""} {
		if got := shown(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	stop, ok := eventLogged(&gclog.Event{Kind: gclog.Safepoint, Name: "ThreadDump", Reach: 3 * time.Millisecond, Start: at, Length: time.Second}, c, sub)
	if !ok || stop.Kind != recording.EventSafepoint || stop.Attrs["operation"] != "ThreadDump" || stop.Attrs["to_safepoint"] != "0.003000" {
		t.Errorf("%+v", stop)
	}
	pause, ok := eventLogged(&gclog.Event{Kind: gclog.Pause, Name: "Pause Full", Cause: "System.gc()", Before: 9, After: 3, Total: gclog.Unknown, Start: at, Length: time.Second}, c, sub)
	if _, total := pause.Attrs["heap"]; !ok || total || pause.Attrs["cause"] != "System.gc()" || pause.Attrs["heap_before"] != "9" || pause.Attrs["heap_after"] != "3" {
		t.Errorf("%+v", pause)
	}
}
