package gclog

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// FuzzReader: whatever the bytes, and in whatever pieces they come, the events are the
// same, and of sane values.
func FuzzReader(f *testing.F) {
	for _, file := range []string{"testdata/jdk17-g1.log", "testdata/jdk21-genzgc.log", "testdata/jdk11-cms.log"} {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:min(len(b), 1500)], 7)
	}
	f.Add([]byte("1.0: [GC (A) 1.0: [ParNew: 8K->1K(9K), 0.1 secs] 8K->6K(9K), 0.2 secs]\n2.0: [GC pause (G1 Evacuation Pause) (young), 0.1 secs]\n   [Eden: 1K(2K)->0.0B(1K) Heap: 7.0K(32.0K)->6.5K(32.0K)]\n"), 1)
	f.Add([]byte("2014-04-09T15:26:52.201+0200: 0,384: #3: [Full GC (System) [1 CMS-remark: 1K(2K)] 3K(4K), 0,1 secs]\n[1713307357744ms][9ns][8ns] Allocation Stall (x) 1.5ms\n"), 3)
	f.Fuzz(func(t *testing.T, log []byte, pieces int) {
		if first := FirstStamp(log); first == (Stamp{}) && LastStamp(log).Known() {
			t.Fatalf("the last line has a stamp %+v and none is the first", LastStamp(log))
		}
		whole, parts := all(string(log), 0), all(string(log), max(pieces, 1))
		if len(whole) != len(parts) {
			t.Fatalf("%d events at once, %d in pieces of %d", len(whole), len(parts), pieces)
		}
		for i, e := range whole {
			if e != parts[i] {
				t.Fatalf("event %d is %+v at once, %+v in pieces", i, e, parts[i])
			}
			if e.Kind < Pause || e.Kind > Collection || e.Length < Unknown || e.Offset < 0 || e.Offset >= int64(len(log)) || e.Before < Unknown || e.After < Unknown || e.Total < Unknown {
				t.Fatalf("event %+v", e)
			}
			if !strings.Contains(string(log), e.Thread) {
				t.Fatalf("thread %q is not in the log", e.Thread)
			}
		}
	})
}

// BenchmarkReader: a log of -Xlog:gc*,safepoint, most of whose lines are details.
func BenchmarkReader(b *testing.B) {
	for name, log := range map[string][]byte{"g1": bigG1(b), "jdk8": big8()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				var r Reader
				for rest := log; len(rest) > 0; {
					k := min(len(rest), 256<<10)
					r.Feed(rest[:k], func(*Event) { n++ })
					rest = rest[k:]
				}
			}
			b.ReportMetric(float64(n)/float64(b.N), "events")
		})
	}
}

func bigG1(b *testing.B) []byte {
	log, err := os.ReadFile("testdata/jdk17-g1.log")
	if err != nil {
		b.Fatal(err)
	}
	details := "[2026-11-21T16:30:31.644+0000][0.236s][info][gc,phases   ] GC(6)   Evacuate Collection Set: 2.3ms\n[2026-11-21T16:30:31.644+0000][0.236s][info][gc,heap     ] GC(6) Eden regions: 6->0(6)\n"
	var out bytes.Buffer
	for _, line := range bytes.SplitAfter(log, []byte("\n")) {
		out.Write(line)
		out.WriteString(details)
	}
	return bytes.Repeat(out.Bytes(), 8<<20/out.Len())
}

func big8() []byte {
	young := "2022-08-01T17:16:33.170+0000: 0.169: #0: [GC (Allocation Failure) 2022-08-01T17:16:33.171+0000: 0.170: #0: [ParNew: 8678K->1081K(9792K), 0.0088699 secs] 8678K->8064K(31680K), 0.0106548 secs] [Times: user=0.02 sys=0.00, real=0.01 secs]\n2022-08-01T17:16:33.190+0000: 0.185: Total time for which application threads were stopped: 0.0107502 seconds, Stopping threads took: 0.0000151 seconds\n"
	return bytes.Repeat([]byte(young), 8<<20/len(young))
}
