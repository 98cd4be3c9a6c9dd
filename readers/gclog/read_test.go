package gclog

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/internal/gclog"
	"snag/readers/reader"
	"snag/recording"
)

type sink struct{ recording.Recording }

func (s *sink) Sample(recording.Time, string, recording.Labels, float64) {}
func (s *sink) Append(row recording.Row)                                 { s.Add(row) }

// written puts a log into a file that was changed at a time.
func written(t testing.TB, name, text string, changed time.Time) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, changed, changed); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t testing.TB, path string) (reader.Told, *recording.Recording) {
	t.Helper()
	in, err := reader.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if !Sniff(in.Head()) {
		t.Fatalf("%s is not known", path)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	out := &sink{}
	told, err := Format.Read(context.Background(), in, reader.Options{Zone: time.UTC, Modified: st.ModTime()}, out)
	if err != nil {
		t.Fatal(err)
	}
	return told, &out.Recording
}

func of(r *recording.Recording, kind string) (all []recording.Event) {
	for _, e := range r.Events {
		if e.Kind == kind {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b recording.Event) int { return int(a.T - b.T) })
	return all
}

func TestUptimeAloneIsHeldAgainstTheFilesLastChange(t *testing.T) {
	changed := time.Date(2026, 3, 1, 12, 0, 10, 0, time.UTC)
	told, r := readFile(t, written(t, "gc.log", `[0.010s][info][gc] Using G1
[4.500s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->2M(256M) 500.000ms
[10.000s][info][gc] GC(1) Concurrent Mark Cycle 3.0ms
`, changed))
	pauses := of(r, recording.EventGCPause)
	if len(pauses) != 1 || pauses[0].T.Wall() != changed.Add(-6*time.Second) || pauses[0].Value != 0.5 {
		t.Fatalf("%+v", pauses)
	}
	sub := pauses[0].Subject
	if !recording.StandsIn(sub.PID) || sub.Comm != "java of gc.log" || pauses[0].Attrs["cause"] != "G1 Evacuation Pause" {
		t.Errorf("%+v", pauses[0])
	}
	if told.First.Wall() != changed.Add(-10*time.Second) || told.Last.Wall() != changed {
		t.Errorf("from %v to %v", told.First.Wall(), told.Last.Wall())
	}
	if c := told.Coverage[0]; c.State != recording.CoveragePartial || !strings.Contains(c.Why, "uptime alone") || !strings.Contains(c.Why, "safepoints are not in it") {
		t.Errorf("%+v", c)
	}
}

func TestSeveralJVMsWroteToOneFile(t *testing.T) {
	changed := time.Date(2026, 3, 1, 12, 1, 0, 0, time.UTC)
	told, r := readFile(t, written(t, "gc.log", `[0.010s][info][gc] Using G1
[40.000s][info][gc] GC(7) Pause Full (System.gc()) 24M->2M(256M) 300.000ms
[0.010s][info][gc] Using G1
[20.000s][info][gc] GC(0) Pause Full (System.gc()) 24M->2M(256M) 400.000ms
`, changed))
	pauses := of(r, recording.EventGCPause)
	if len(pauses) != 2 || pauses[1].End.Wall() != changed || pauses[0].End.Wall() != changed.Add(-20*time.Second) {
		t.Fatalf("%+v", pauses)
	}
	if c := told.Coverage[0]; !strings.Contains(c.Why, "another JVM") {
		t.Errorf("%+v", c)
	}
}

func TestStallsThatOverlapAreNotAdded(t *testing.T) {
	told, r := readFile(t, written(t, "gc.log", `[2026-03-01T12:00:00.010+0100][info][gc] Using The Z Garbage Collector
[2026-03-01T12:00:02.000+0100][info][gc] Allocation Stall (http-1) 1000.000ms
[2026-03-01T12:00:02.500+0100][info][gc] Allocation Stall (http-2) 1000.000ms
[2026-03-01T12:00:09.000+0100][info][gc] Allocation Stall (http-1) 500.000ms
`, time.Now()))
	stalls := of(r, recording.EventAllocStall)
	if len(stalls) != 3 || stalls[0].T.Wall() != time.Date(2026, 3, 1, 11, 0, 1, 0, time.UTC) || stalls[0].Attrs["thread"] != "http-1" {
		t.Fatalf("%+v", stalls)
	}
	for _, f := range told.Facts {
		if strings.HasSuffix(f.Name, ".allocation-stalls") {
			if !strings.Contains(f.Value, "3 of 2 threads") || !strings.Contains(f.Value, "for 2.000 s one") {
				t.Errorf("%s", f.Value)
			}
			return
		}
	}
	t.Errorf("nothing is told of the stalls: %+v", told.Facts)
}

// TestUnionAgainstAGrid holds the union of intervals against counting milliseconds.
func TestUnionAgainstAGrid(t *testing.T) {
	for seed := range 200 {
		x := uint32(seed)*2654435761 + 1
		next := func(n int64) int64 { x = x*1664525 + 1013904223; return int64(x>>8) % n }
		var u union
		grid := map[int64]bool{}
		for to := int64(100); to < 3000; to += next(90) {
			from := to - 1 - next(99)
			u.add(from*1e6, to*1e6)
			for ms := from; ms < to; ms++ {
				grid[ms] = true
			}
		}
		if got, want := u.length(), time.Duration(len(grid))*time.Millisecond; got != want {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

func TestTheProcessOfALog(t *testing.T) {
	pid := []byte("[1.0s][4711][info][gc] Using G1\n[1.1s][4711][info][gc] x\n[1.2s][4711][info][gc] y\n")
	tids := []byte("[1.0s][4711][info][gc] Using G1\n[1.1s][4712][info][gc] x\n[1.2s][4711][info][gc] y\n")
	if got := pidOf(pid); got != 4711 {
		t.Errorf("pid %d", got)
	}
	if got := pidOf(tids); got != 0 {
		t.Errorf("a thread's number is taken for the process': %d", got)
	}
	if a, b, c := subjectOf("/x/gc.log.1.current", 0, nil), subjectOf("/x/gc.log.0", 0, nil), subjectOf("/x/gc.log", 1, nil); a != b || b != c {
		t.Errorf("one rotated log is of %+v, %+v, %+v", a, b, c)
	}
	if a, b := subjectOf("/x/a.log", 0, nil), subjectOf("/x/b.log", 0, nil); a.PID == b.PID {
		t.Error("two logs are of one JVM")
	}
}

func TestTheHostOfALog(t *testing.T) {
	for text, want := range map[string]string{
		"[2026-03-01T12:00:00.000+0000][1.0s][web-1][4711][info][gc] Using G1\n":                "web-1",
		"[1.0s][web-1.example.org][info ][gc,init] x\n":                                         "web-1.example.org",
		"[1.0s][info][gc] Using G1\n[1.0s][info][gc,start] GC(0) Pause Young\n":                 "",
		"[2026-03-01T12:00:00.000+0000][4711][info][gc] Using G1\n":                             "",
		"2014-04-09T15:26:52.201+0200: 0.384: [GC (Allocation Failure) 1K->1K(9K), 0.5 secs]\n": "",
	} {
		if got := hostOf([]byte(text)); got != want {
			t.Errorf("%q is of %q, want %q", text, got, want)
		}
	}
}

func TestOtherLogsAreNone(t *testing.T) {
	for _, text := range []string{
		"", "\n\n", "2026-03-01 12:00:00 INFO started\n", "127.0.0.1 - - [01/Mar/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n",
		strings.Repeat("12:00:00 INFO x\n", 300) + "[1.0s][info][gc] GC(0) Pause Full (System.gc()) 24M->2M(256M) 300.000ms\n",
	} {
		if Sniff([]byte(text)) {
			t.Errorf("%.40q is taken for a log of collections", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("[1.0s][info][gc] GC(0) Pause Full (System.gc()) 24M->2M(256M) 300.000ms\n")
	f.Add("2014-04-09T15:26:52.201+0200: 0.384: [GC (Allocation Failure) 1K->1K(9K), 0.5 secs]\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := written(t, "gc.log", text, time.Unix(1e9, 0))
		in, err := reader.Open(path)
		if err != nil {
			return // it begins as a packed file
		}
		defer in.Close()
		Sniff(in.Head())
		out := &sink{}
		told, err := Format.Read(context.Background(), in, reader.Options{Modified: time.Unix(1e9, 0)}, out)
		if err == nil && len(told.Coverage) != 1 {
			t.Error("nothing is said of what was measured")
		}
	})
}

// TestRealLogs reads what JDK 11 to 25 wrote with each of their collectors: each is
// known, and each pause and safepoint of the log is an event at a time within it.
func TestRealLogs(t *testing.T) {
	files, err := filepath.Glob("../../internal/gclog/testdata/jdk*.log")
	if err != nil || len(files) < 19 {
		t.Fatalf("%d logs, %v", len(files), err)
	}
	for _, file := range files {
		told, r := readFile(t, file)
		if len(r.Events) == 0 || told.First == 0 || told.Last <= told.First || len(r.Processes) != 1 {
			t.Errorf("%s: %d events from %v to %v", file, len(r.Events), told.First.Wall(), told.Last.Wall())
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{}
		var reader gclog.Reader
		count := func(e *gclog.Event) {
			kind := map[gclog.Kind]string{gclog.Pause: recording.EventGCPause, gclog.Safepoint: recording.EventSafepoint, gclog.Stall: recording.EventAllocStall}[e.Kind]
			if kind != "" && e.Length >= 0 && e.Start.Known() && (e.Kind != gclog.Stall || e.Generation == "") {
				want[kind]++
			}
		}
		reader.Feed(b, count)
		reader.End(count)
		for kind, n := range want {
			if got := of(r, kind); len(got) != n {
				t.Errorf("%s: %d of %d %s", file, len(got), n, kind)
			} else if got[0].T < told.First || got[n-1].End > told.Last {
				t.Errorf("%s: a %s outside of %v to %v", file, kind, told.First.Wall(), told.Last.Wall())
			}
		}
	}
}

// Logs of which the beginning is of other things, or mostly of what stands between collections.
func TestBeginnings(t *testing.T) {
	block := func(text string) string { return strings.Repeat(text, 20) }
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"os, thread first":        {block("[0.012s][info][os,thread] Thread attached (tid: 12, pthread id: 1399).\n") + "[0.020s][info][gc] Using G1\n[0.345s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.123ms\n", true},
		"ZGC that starts":         {"[0.012s][info][gc,init] Initializing The Z Garbage Collector\n[0.013s][info][gc,init] Version: 25+36 (release)\n[0.013s][info][gc,init] NUMA Support: Disabled\n", true},
		"tags alone":              {"[2025-10-01T10:00:00.123+0000][info][gc,init] Version: 25+36 (release)\n[2025-10-01T10:00:00.124+0000][info][gc,init] CPUs: 8\n[2025-10-01T10:00:00.124+0000][info][gc,metaspace] CDS archive(s) mapped\n", true},
		"heap at each collection": {block("{Heap before GC invocations=1 (full 0):\n PSYoungGen      total 76288K, used 65536K [0x00000007aab00000, 0x00000007b0000000, 0x0000000800000000)\n  eden space 65536K, 100% used [0x00000007aab00000,0x00000007aeb00000,0x00000007aeb00000)\n  from space 10752K, 0% used [0x00000007af580000,0x00000007af580000,0x00000007b0000000)\n  to   space 10752K, 0% used [0x00000007aeb00000,0x00000007aeb00000,0x00000007af580000)\n ParOldGen       total 175104K, used 0K [0x0000000700000000, 0x000000070ab00000, 0x00000007aab00000)\n  object space 175104K, 0% used [0x0000000700000000,0x0000000700000000,0x000000070ab00000)\n") + "2.000: [GC (Allocation Failure) [PSYoungGen: 65536K->4093K(76288K)] 65536K->4117K(251392K), 0.0207370 secs]\n", true},
		"free lists":              {block("Statistics for BinaryTreeDictionary:\n------------------------------------\nTotal Free Space: 53230\nMax   Chunk Size: 53230\nNumber of Blocks: 1\nAv.  Block  Size: 53230\nTree      Height: 1\n") + "1.5: [GC 17024K->1751K(83008K), 0.0220620 secs]\n", true},
		"a service's log":         {block("[2026-03-01 12:00:00.123] [info] [http] GET / 200\n") + "[2026-03-01 12:00:01.000] [info] [gc] sweeping\n", false},
	} {
		if got := Sniff([]byte(c.text)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
