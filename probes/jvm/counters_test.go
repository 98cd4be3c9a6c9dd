package jvm

import (
	"os"
	"testing"
	"time"

	"snag/probes/jvm/hsperf"
	"snag/recording"
)

func serial17(t *testing.T) hsperf.Data {
	t.Helper()
	b, err := os.ReadFile("hsperf/testdata/serial17.hsperfdata")
	if err != nil {
		t.Fatal(err)
	}
	d, err := hsperf.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSamples(t *testing.T) {
	got := map[string]float64{}
	for _, s := range samplesOf(serial17(t)) {
		got[s.name+s.labels["collector"]] = s.v
	}
	for name, want := range map[string]float64{
		"snag_jvm_safepoints_total": 5, "snag_jvm_safepoint_seconds_total": 0.300391610, "snag_jvm_safepoint_sync_seconds_total": 0.000022283,
		"snag_jvm_gc_invocations_totalSerial full collection pauses": 3, "snag_jvm_gc_seconds_totalSerial full collection pauses": 0.244739249,
		"snag_jvm_heap_max_bytes": 256 << 20, "snag_jvm_threads": 6,
	} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
}

// TestSamplesOfAnotherJVM: what it does not count is not 0.
func TestSamplesOfAnotherJVM(t *testing.T) {
	d := hsperf.Data{Counters: map[string]hsperf.Counter{
		"sun.rt.safepoints": {Long: 7}, "sun.rt.safepointTime": {Units: hsperf.Ticks, Long: 9}, // and no frequency
		// G1: each generation may grow to the whole heap, padded by a few bytes.
		"sun.gc.collector.0.name":         {Units: hsperf.String, Text: "G1 young collection pauses"},
		"sun.gc.generation.0.maxCapacity": {Long: 1<<30 + 24}, "sun.gc.generation.1.maxCapacity": {Long: 1<<30 + 8},
	}}
	got := map[string]float64{}
	for _, s := range samplesOf(d) {
		got[s.name] = s.v
	}
	if _, there := got["snag_jvm_safepoint_seconds_total"]; there || got["snag_jvm_safepoints_total"] != 7 || got["snag_jvm_heap_max_bytes"] != 1<<30+24 {
		t.Errorf("%v", got)
	}
}

func TestFactsKeepNoProperties(t *testing.T) {
	for _, f := range factsOf(9, serial17(t), "x") {
		if f.Name == "jvm.9.flags" && f.Value != "-XX:+UseSerialGC -Xmx256m" {
			t.Errorf("flags %q", f.Value)
		}
	}
}

func TestPauses(t *testing.T) {
	const ms = 1_000_000
	d := hsperf.Data{Counters: map[string]hsperf.Counter{
		"sun.os.hrt.frequency": {Long: 1e9}, "sun.gc.collector.0.name": {Units: hsperf.String, Text: "full"},
		"sun.gc.lastCause": {Units: hsperf.String, Text: "Allocation Failure"}, "sun.gc.cause": {Units: hsperf.String, Text: "Ergonomics"},
	}}
	set := func(now, entry, exit int64) hsperf.Data {
		d.Counters["sun.os.hrt.ticks"] = hsperf.Counter{Long: now * ms}
		d.Counters["sun.gc.collector.0.lastEntryTime"] = hsperf.Counter{Long: entry * ms}
		d.Counters["sun.gc.collector.0.lastExitTime"] = hsperf.Counter{Long: exit * ms}
		return d
	}
	p := newPauses()
	at := func(s float64) recording.Time { return recording.Time(1e18 + s*1e9) } // tick 0 is at 1e18 − 100 s
	look := func(s float64, d hsperf.Data) []recording.Event {
		return p.observe(at(s), d, recording.Subject{PID: 9})
	}
	if got := look(0, set(99960, 90000, 90300)); len(got) != 0 {
		t.Errorf("a collection before the first look: %+v", got)
	}
	if got := look(1, set(101000, 100200, 100900)); len(got) != 1 || got[0].T != at(0.2) || got[0].End != at(0.9) || got[0].Value != 0.7 || got[0].Attrs["cause"] != "Allocation Failure" {
		t.Errorf("a collection: %+v", got)
	}
	if got := look(2, set(101980, 100200, 100900)); len(got) != 0 {
		t.Errorf("the same again: %+v", got)
	}
	if got := look(3, set(102990, 102500, 100900)); len(got) != 0 || len(p.unfinished()) != 1 || p.unfinished()[0].T != at(2.5) {
		t.Errorf("one that goes on: %+v, unfinished %+v", got, p.unfinished())
	}
	if got := look(5, set(104990, 102500, 104000)); len(got) != 1 || got[0].End.Sub(got[0].T) != 1500*time.Millisecond || len(p.unfinished()) != 0 {
		t.Errorf("its end: %+v", got)
	}
}

// TestACycleIsNoPause: Shenandoah counts its concurrent cycles where others count pauses.
func TestACycleIsNoPause(t *testing.T) {
	d := hsperf.Data{Counters: map[string]hsperf.Counter{
		"sun.os.hrt.frequency": {Long: 1e9}, "sun.gc.collector.0.name": {Units: hsperf.String, Text: "Shenandoah full"},
		"sun.gc.collector.0.lastEntryTime": {Long: 1e9}, "sun.gc.collector.0.lastExitTime": {Long: 2e9}, "sun.os.hrt.ticks": {Long: 3e9},
	}}
	p := newPauses()
	p.observe(3e9, d, recording.Subject{PID: 9})
	d.Counters["sun.gc.collector.0.lastEntryTime"], d.Counters["sun.gc.collector.0.lastExitTime"] = hsperf.Counter{Long: 4e9}, hsperf.Counter{Long: 5e9}
	if got := p.observe(6e9, d, recording.Subject{PID: 9}); len(got) != 0 || len(p.unfinished()) != 0 {
		t.Errorf("%+v, unfinished %+v", got, p.unfinished())
	}
}
