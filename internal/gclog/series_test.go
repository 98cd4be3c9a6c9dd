package gclog

import (
	"os"
	"testing"
)

func TestInOrder(t *testing.T) {
	of := func(name, head string) Part { return Part{name, FirstStamp([]byte(head))} }
	for _, c := range []struct {
		parts []Part
		want  string // the names, in order; "" where they can't be told
	}{
		{[]Part{of("gc.log", "[9.1s][info][gc] x\n"), of("gc.log.0", "[4.0s][info][gc] x\n"), of("gc.log.1", "[0.0s] x\n")}, "gc.log.1 gc.log.0 gc.log "},
		{[]Part{of("gc.log", "[2026-11-21T00:00:00.000+0000][0.1s] x"), of("gc.log.0", "[2026-11-20T00:00:00.000+0000][99.1s] x")}, "gc.log.0 gc.log "},
		{[]Part{of("gc.log.1.current", "2016-04-14 22:37:22 GC log file created\nCommandLine flags: -XX\n2016-04-14T22:41:41.108+0200: 901.053: [GC"), of("gc.log.0", "\n2016-04-14T22:30:09.108+0200: 1.053: [GC")}, "gc.log.0 gc.log.1.current "},
		{[]Part{of("a", "[5ns] x"), of("b", "[4ns] x")}, "b a "},
		{[]Part{of("gc.log", "[1.0s] x"), of("gc.log.0", "[1.0s] x")}, "gc.log.0 gc.log "},
		{[]Part{of("gc.log", "[0.1s] x"), of("gc.log.0", "no stamp\n")}, ""},
	} {
		got := ""
		if InOrder(c.parts) {
			for _, p := range c.parts {
				got += p.Name + " "
			}
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	b, err := os.ReadFile("testdata/jdk17-zgc.log")
	if err != nil {
		t.Fatal(err)
	}
	first, last := FirstStamp(b), LastStamp(b)
	if !first.HasWall || !last.HasWall || first.Wall >= last.Wall || last.Wall-first.Wall > 60e9 {
		t.Errorf("a log goes from %+v to %+v", first, last)
	}
	if s := LastStamp([]byte("[1.0s] a\n[2.0s] ha")); s.Uptime != 1e9 {
		t.Errorf("half a line is the last: %+v", s)
	}
	if s := LastStamp([]byte("3.0: [GC, 1.0 secs]\n")); s.Known() {
		t.Errorf("a collection's beginning is the last stamp: %+v", s)
	}
}
