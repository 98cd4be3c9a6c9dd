package gclog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// all reads a log in pieces of n bytes; 0: at once.
func all(log string, n int) []Event {
	var r Reader
	var out []Event
	take := func(e *Event) { out = append(out, *e) }
	for b := []byte(log); len(b) > 0; {
		k := len(b)
		if n > 0 {
			k = min(n, k)
		}
		r.Feed(b[:k], take)
		b = b[k:]
	}
	r.End(take)
	return out
}

// said is an event in a line.
func said(e Event) string {
	s := map[Kind]string{Pause: "pause", Safepoint: "safepoint", Stall: "stall", Concurrent: "concurrent", Collection: "collection"}[e.Kind]
	if e.Start.HasUptime {
		s += fmt.Sprintf(" up %.4f", e.Start.Uptime.Seconds())
	}
	if e.Start.HasWall {
		s += " at " + time.Unix(0, e.Start.Wall).UTC().Format("2006-01-02T15:04:05.0000")
	}
	if e.Start.HasNanos {
		s += fmt.Sprintf(" ns %d", e.Start.Nanos)
	}
	if e.Length != Unknown {
		s += fmt.Sprintf(" took %v", e.Length)
	}
	if e.Reach != Unknown {
		s += fmt.Sprintf(" reach %v", e.Reach)
	}
	s += fmt.Sprintf(" %q", e.Name)
	for _, part := range []struct{ what, text string }{{"cause", e.Cause}, {"of", e.Collector}, {"generation", e.Generation}, {"thread", e.Thread}} {
		if part.text != "" {
			s += fmt.Sprintf(" %s %q", part.what, part.text)
		}
	}
	if e.ID >= 0 {
		s += fmt.Sprintf(" id %d", e.ID)
	}
	if e.After != Unknown {
		s += fmt.Sprintf(" heap %d>%d/%d", e.Before, e.After, e.Total)
	}
	return s
}

func check(t *testing.T, log string, want ...string) {
	t.Helper()
	for _, n := range []int{0, 1, 7} {
		got := all(log, n)
		if len(got) != len(want) {
			t.Errorf("in pieces of %d: %d events of %.80q, want %d", n, len(got), log, len(want))
		}
		for i, e := range got {
			if i < len(want) && said(e) != want[i] {
				t.Errorf("in pieces of %d: event %d of %.80q is\n%s, want\n%s", n, i, log, said(e), want[i])
			}
		}
	}
}

func TestUnified(t *testing.T) {
	for _, c := range []struct {
		log  string
		want []string
	}{
		// JDK 17, -Xlog:gc*,safepoint:::time,uptime,level,tags
		{"[2022-01-29T16:34:51.644+0000][236ms][info][gc,start    ] GC(6) Pause Young (Normal) (G1 Evacuation Pause)\n" +
			"[2022-01-29T16:34:51.654+0000][245ms][info][gc          ] GC(6) Pause Young (Normal) (G1 Evacuation Pause) 14M->13M(46M) 9.772ms\n" +
			"[2022-01-29T16:34:51.655+0000][246ms][info][safepoint   ] Safepoint \"G1CollectForAllocation\", Time since last: 1634200 ns, Reaching safepoint: 92800 ns, Cleanup: 1000 ns, At safepoint: 11172200 ns, Total: 11266000 ns\n",
			[]string{
				`pause up 0.2352 at 2022-01-29T16:34:51.6442 took 9.772ms "Pause Young (Normal)" cause "G1 Evacuation Pause" id 6 heap 14680064>13631488/48234496`,
				`safepoint up 0.2347 at 2022-01-29T16:34:51.6437 took 11.266ms reach 92.8µs "G1CollectForAllocation"`,
			}},
		// JDK 24 and later tell the threads as well, and what leaving took.
		{"[1.5s] Safepoint \"ZMarkStartYoung\", Time since last: 1 ns, Reaching safepoint: 5000000 ns, Cleanup: 1 ns, At safepoint: 2 ns, Leaving safepoint: 3 ns, Total: 5000006 ns, Threads: 0 runnable, 14 total\r\n",
			[]string{`safepoint up 1.4950 took 5.000006ms reach 5ms "ZMarkStartYoung"`}},
		// JDK 9 to 12
		{"[8.793s][info][safepoint     ] Entering safepoint region: ShenandoahDegeneratedGC\n" +
			"[8.900s][info][gc            ] GC(165) Pause Degenerated GC (Outside of Cycle) 60M->5M(64M) 99.512ms\n" +
			"[8.900s][info][safepoint     ] Leaving safepoint region\n" +
			"[8.900s][info][safepoint     ] Total time for which application threads were stopped: 0.1068000 seconds, Stopping threads took: 0.0000151 seconds\n" +
			"[9.000s][info][safepoint     ] Total time for which application threads were stopped: 0.0010000 seconds, Stopping threads took: 0.0000151 seconds\n",
			[]string{
				`pause up 8.8005 took 99.512ms "Pause Degenerated GC (Outside of Cycle)" id 165 heap 62914560>5242880/67108864`,
				`safepoint up 8.7932 took 106.8ms reach 15.1µs "ShenandoahDegeneratedGC"`,
				`safepoint up 8.9990 took 1ms reach 15.1µs ""`,
			}},
		{"[0.401s][info][gc     ] Using Shenandoah\n[29.725s][info][gc,phases,start] GC(831) Phase 4: Move objects\n" +
			"[43.914s][info][gc,phases      ] GC(831) Phase 4: Move objects 14078.141ms\n" +
			"[43.948s][info][gc             ] GC(831) Pause Full (Allocation Failure) 7943M->6013M(8192M) 14289.335ms\n" +
			"[44.878s][info][gc             ] GC(832) Pause Init Mark (process weakrefs) (unload classes) 1.692ms\n",
			[]string{
				`pause up 29.6587 took 14.289335s "Pause Full" cause "Allocation Failure" of "Shenandoah" id 831 heap 8328839168>6305087488/8589934592`,
				`pause up 44.8763 took 1.692ms "Pause Init Mark (process weakrefs) (unload classes)" of "Shenandoah" id 832`,
			}},
		// ZGC of JDK 11 to 20; the program's locale has a comma.
		{"[0.995s][info][gc] Using The Z Garbage Collector\n[1.205s][info][gc,start] GC(0) Garbage Collection (Metadata GC Threshold)\n" +
			"[1,206s][info][gc,phases] GC(0) Pause Mark Start 1,279ms\n[1.211s][info][gc,phases] GC(0) Concurrent Mark 5.216ms\n" +
			"[1.221s][info][gc       ] GC(0) Garbage Collection (Metadata GC Threshold) 10620M(5%)->8800M(4%)\n" +
			"[1.300s][info][gc       ] Allocation Stall (http (nio) [1] 7ms) 1011.500ms\n[1.4s] Relocation Stall (main) 2.000ms\n",
			[]string{
				`pause up 1.2047 took 1.279ms "Pause Mark Start" of "ZGC" id 0`,
				`concurrent up 1.2058 took 5.216ms "Concurrent Mark" of "ZGC" id 0`,
				`collection up 1.2210 "Garbage Collection" cause "Metadata GC Threshold" of "ZGC" id 0 heap 11135877120>9227468800/-1`,
				`stall up 0.2885 took 1.0115s "Allocation Stall" of "ZGC" thread "http (nio) [1] 7ms"`,
				`stall up 1.3980 took 2ms "Relocation Stall" of "ZGC" thread "main"`,
			}},
		// generational ZGC
		{"[2025-02-11T13:06:19.476-0800][info][gc,phases   ] GC(1) Y: Pause Mark Start (Major) 0.023ms\n" +
			"[2025-02-11T13:06:19.551-0800][info][gc,phases   ] GC(1) Y: Young Generation 296M(1%)->76M(0%) 0.075s\n" +
			"[2025-02-11T13:06:19.553-0800][info][gc,phases   ] GC(1) O: Concurrent Mark 1.286ms\n" +
			"[2025-02-11T13:06:19.580-0800][info][gc          ] GC(1) Major Collection (Metadata GC Threshold) 296M(1%)->80M(0%) 0.105s\n",
			[]string{
				`pause at 2025-02-11T21:06:19.4759 took 23µs "Pause Mark Start (Major)" generation "young" id 1`,
				`concurrent at 2025-02-11T21:06:19.5517 took 1.286ms "Concurrent Mark" generation "old" id 1`,
				`collection at 2025-02-11T21:06:19.4750 took 105ms "Major Collection" cause "Metadata GC Threshold" id 1 heap 310378496>83886080/-1`,
			}},
		// all decorations that there are, and none
		{"[2024-04-17T00:42:37.744+0200][2024-04-16T22:42:37.744+0000][25.263s][1713307357744ms][25263ms][900025263000000ns][25263000001ns][host-1][4711][4712][info ][gc           ] GC(3) Pause Full (System.gc()) 4M->1M(8M) 3.000ms\n" +
			"GC(4) Pause Cleanup 7M->7M(8M) 0.100ms\n[99ns] GC(5) Pause Cleanup 7M->7M(8M) 0.000ms\n[1713307357744ms] GC(6) Pause Remark 0.744ms",
			[]string{
				`pause up 25.2600 at 2024-04-16T22:42:37.7410 ns 900025260000000 took 3ms "Pause Full" cause "System.gc()" id 3 heap 4194304>1048576/8388608`,
				`pause took 100µs "Pause Cleanup" id 4 heap 7340032>7340032/8388608`,
				`pause ns 99 took 0s "Pause Cleanup" id 5 heap 7340032>7340032/8388608`,
				`pause at 2024-04-16T22:42:37.7432 took 744µs "Pause Remark" id 6`,
			}},
		{"[0.1s][info][gc] Using Epsilon\n[0.2s][info][gc] Heap: 64M reserved, 64M (100.00%) committed, 3M (5.00%) used\n", nil},
		{"[1s] GC(9) Pause Young (Concurrent Start) (G1 Humongous Allocation) (Evacuation Failure: Pinned) 9M->8M(9M) 1.000ms\n[2s] GC(10) Pause Young (Prepare Mixed) (G1 Preventive Collection) 9M->8M(9M) 1.000ms\n",
			[]string{
				`pause up 0.9990 took 1ms "Pause Young (Concurrent Start)" cause "G1 Humongous Allocation" id 9 heap 9437184>8388608/9437184`,
				`pause up 1.9990 took 1ms "Pause Young (Prepare Mixed)" cause "G1 Preventive Collection" id 10 heap 9437184>8388608/9437184`,
			}},
	} {
		check(t, c.log, c.want...)
	}
}

func TestWhatIsNoEvent(t *testing.T) {
	for _, line := range []string{
		"", "[", "[]", "[0.1s", "[0.1s] ", "GC(", "GC(1)", "GC(x) Pause Full 1M->1M(1M) 1ms", "Pause ", "[0.1s] GC(1) Pause Full 99999999999999999999ms",
		"[0.1s] Allocation Stall (main", "[0.1s] Allocation Stall (main) 1", "[0.1s] Allocation Stalls:          0                38", `[0.1s] Safepoint "`, `[0.1s] Safepoint "x", Total: `,
		"[0.1s] GC(4) Minor Collection (Allocation Stall)", "Total time for which application threads were stopped: x", "1.0: [GC", "1.0: [GC (", "1.0: [GC concurrent-mark-start]", "1.0: [CMS-concurrent-mark-start]", "1.0: [Pause Init Mark, start]", "]", "1.0: [GC ]]]]",
		"[0.1s] GC(2) Pause Remark " + strings.Repeat(" ", mostLine) + "9.000ms",
	} {
		check(t, line+"\n")
	}
}
