package jvmlog

import (
	"strings"
	"testing"
	"time"

	"snag/internal/gclog"
	"snag/recording"
)

func TestTheClocksOfALog(t *testing.T) {
	var c Clock
	if _, ok := c.At(gclog.Stamp{Uptime: 1, HasUptime: true, Nanos: 1, HasNanos: true}); ok {
		t.Error("a time by clocks that nothing joined")
	}
	c.Join(gclog.Stamp{Uptime: 2 * time.Second, HasUptime: true, Nanos: 5e9, HasNanos: true}, 100e9)
	c.Join(gclog.Stamp{Uptime: 3 * time.Second, HasUptime: true, Nanos: 6e9, HasNanos: true}, 102e9) // written late
	c.Wall = -time.Second
	for _, s := range []struct {
		stamp gclog.Stamp
		want  recording.Time
	}{
		{gclog.Stamp{Uptime: time.Second, HasUptime: true}, 99e9},
		{gclog.Stamp{Nanos: 4e9, HasNanos: true}, 99e9},
		{gclog.Stamp{Wall: 100e9, HasWall: true, Uptime: time.Second, HasUptime: true}, 99e9},
	} {
		if got, ok := c.At(s.stamp); !ok || got != s.want {
			t.Errorf("%+v is at %d, %v; want %d", s.stamp, got, ok, s.want)
		}
	}
	if _, ok := c.At(gclog.Stamp{}); ok {
		t.Error("a line without a clock has a time")
	}
}

func TestLoggedEvents(t *testing.T) {
	c, sub := &Clock{}, recording.Subject{Kind: recording.KindProcess, PID: 7}
	at := gclog.Stamp{Wall: 50e9, HasWall: true}
	for _, e := range []gclog.Event{
		{Kind: gclog.Concurrent, Start: at, Length: 1}, {Kind: gclog.Collection, Start: at, Length: 1},
		{Kind: gclog.Stall, Generation: "young", Thread: "ZWorkerYoung#0", Start: at, Length: 1}, {Kind: gclog.Pause, Start: at, Length: gclog.Unknown}, {Kind: gclog.Pause, Length: 1},
	} {
		if got, ok := Event(&e, c, sub); ok {
			t.Errorf("%+v is an event: %+v", e, got)
		}
	}
	stall, ok := Event(&gclog.Event{Kind: gclog.Stall, Name: "Allocation Stall", Thread: "http-1", Collector: "ZGC", Start: at, Length: time.Second}, c, sub)
	if !ok || stall.Kind != recording.EventAllocStall || stall.T != 50e9 || stall.End != 51e9 || stall.Value != 1 || stall.Attrs["thread"] != "http-1" || stall.Attrs["collector"] != "ZGC" || stall.Attrs["source"] != Source {
		t.Errorf("%+v", stall)
	}
	for text, want := range map[string]string{"http-1": "http-1", "\x1b[2Jx\xff": "?[2Jx\ufffd", strings.Repeat("é", 60): strings.Repeat("é", 40) + "…", "": ""} {
		if got := Shown(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	stop, ok := Event(&gclog.Event{Kind: gclog.Safepoint, Name: "ThreadDump", Reach: 3 * time.Millisecond, Start: at, Length: time.Second}, c, sub)
	if !ok || stop.Kind != recording.EventSafepoint || stop.Attrs["operation"] != "ThreadDump" || stop.Attrs["to_safepoint"] != "0.003000" {
		t.Errorf("%+v", stop)
	}
	pause, ok := Event(&gclog.Event{Kind: gclog.Pause, Name: "Pause Full", Cause: "System.gc()", Before: 9, After: 3, Total: gclog.Unknown, Start: at, Length: time.Second}, c, sub)
	if _, total := pause.Attrs["heap"]; !ok || total || pause.Attrs["cause"] != "System.gc()" || pause.Attrs["heap_before"] != "9" || pause.Attrs["heap_after"] != "3" {
		t.Errorf("%+v", pause)
	}
}
