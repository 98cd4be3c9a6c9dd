package jvm

import (
	"strconv"
	"strings"
	"time"

	"snag/probes/jvm/hsperf"
	"snag/recording"
)

// sample is one value of one JVM; labels besides the pid.
type sample struct {
	name   string
	labels recording.Labels
	v      float64
}

// seconds converts a count of the JVM's ticks by its own frequency; false where the
// JVM does not tell one of the two.
func seconds(d hsperf.Data, name string) (float64, bool) {
	ticks, ok := d.Number(name)
	frequency, known := d.Number("sun.os.hrt.frequency")
	if !ok || !known || frequency <= 0 {
		return 0, false
	}
	return float64(ticks) / float64(frequency), true
}

// samplesOf are the values that the suspects use. What a JVM does not count (ZGC
// has no generations in JDK 17) is left out, and never 0.
func samplesOf(d hsperf.Data) []sample {
	var out []sample
	number := func(counter, name string, labels recording.Labels) {
		if v, ok := d.Number(counter); ok {
			out = append(out, sample{name, labels, float64(v)})
		}
	}
	timed := func(counter, name string, labels recording.Labels) {
		if v, ok := seconds(d, counter); ok {
			out = append(out, sample{name, labels, v})
		}
	}
	number("sun.rt.safepoints", "snag_jvm_safepoints_total", nil)
	timed("sun.rt.safepointTime", "snag_jvm_safepoint_seconds_total", nil)
	timed("sun.rt.safepointSyncTime", "snag_jvm_safepoint_sync_seconds_total", nil)
	timed("sun.rt.applicationTime", "snag_jvm_application_seconds_total", nil)
	number("sun.rt._sync_ContendedLockAttempts", "snag_jvm_contended_locks_total", nil)
	number("java.threads.live", "snag_jvm_threads", nil)
	for i, name := range collectors(d) {
		prefix := "sun.gc.collector." + strconv.Itoa(i) + "."
		labels := recording.Labels{"collector": name}
		number(prefix+"invocations", "snag_jvm_gc_invocations_total", labels)
		timed(prefix+"time", "snag_jvm_gc_seconds_total", labels)
	}
	h := heapOf(d)
	if h.generations > 0 {
		out = append(out, sample{"snag_jvm_heap_used_bytes", nil, float64(h.used)},
			sample{"snag_jvm_heap_committed_bytes", nil, float64(h.committed)}, sample{"snag_jvm_heap_max_bytes", nil, float64(h.most)})
	}
	return out
}

// mostCollectors and mostGenerations a JVM has: 3 and 2 so far.
const (
	mostCollectors  = 8
	mostGenerations = 4
	mostSpaces      = 8
)

// collectors are the names of the JVM's collectors by their number.
func collectors(d hsperf.Data) []string {
	var out []string
	for i := range mostCollectors {
		name := d.Text("sun.gc.collector." + strconv.Itoa(i) + ".name")
		if name == "" {
			break
		}
		out = append(out, name)
	}
	return out
}

// heap is the Java heap, bytes.
type heap struct {
	generations           int
	used, committed, most int64
}

// heapOf adds up the generations. G1 gives the whole heap as the most that each of
// them may have, and some bytes more (g1MonitoringSupport.hpp, pad_capacity): that is
// counted once.
func heapOf(d hsperf.Data) heap {
	var h heap
	g1 := strings.HasPrefix(d.Text("sun.gc.collector.0.name"), "G1 ")
	for g := range mostGenerations {
		prefix := "sun.gc.generation." + strconv.Itoa(g) + "."
		most, ok := d.Number(prefix + "maxCapacity")
		if !ok {
			break
		}
		h.generations++
		if g1 {
			h.most = max(h.most, most)
		} else {
			h.most += most
		}
		if committed, ok := d.Number(prefix + "capacity"); ok {
			h.committed += committed
		}
		for s := range mostSpaces {
			used, ok := d.Number(prefix + "space." + strconv.Itoa(s) + ".used")
			if !ok {
				break
			}
			h.used += used
		}
	}
	return h
}

// factsOf are what the JVM is and how it is set. Of its arguments only the JVM's own
// flags are kept: properties (-D) hold passwords.
func factsOf(pid int, d hsperf.Data, path string) []recording.Fact {
	var flags []string
	for _, f := range strings.Fields(d.Text("java.rt.vmArgs")) {
		if strings.HasPrefix(f, "-X") {
			flags = append(flags, f)
		}
	}
	main, _, _ := strings.Cut(d.Text("sun.rt.javaCommand"), " ")
	var out []recording.Fact
	for name, value := range map[string]string{
		"version": d.Text("java.property.java.vm.version"), "flags": strings.Join(flags, " "), "main": main,
		"gc": d.Text("sun.gc.policy.name"), "collectors": strings.Join(collectors(d), ", "),
	} {
		if value != "" {
			out = append(out, recording.Fact{Name: "jvm." + strconv.Itoa(pid) + "." + name, Value: value, Source: path})
		}
	}
	return out
}

// beside is the collector of Shenandoah's counters that has its concurrent cycles as
// well as its pauses (shenandoahMonitoringSupport.cpp): what it timed stopped nobody,
// or did for a part of it.
const beside = "Shenandoah full"

// pauses turns the last collection that each collector notes into events.
type pauses struct {
	// origin is when the JVM's ticks began, on the recording's clock: the earliest
	// that any reading allows, since sun.os.hrt.ticks is up to 50 ms old
	// (-XX:PerfDataSamplingInterval) and never ahead.
	origin recording.Time
	// entered is when each collector last began, ticks; it is known from the first
	// reading on, whose collections were before the window.
	entered map[string]int64
	open    map[string]recording.Event
}

func newPauses() *pauses {
	return &pauses{entered: map[string]int64{}, open: map[string]recording.Event{}}
}

// observe returns the collections that ended since the last reading, at most one of
// each collector: of several in a second the JVM keeps the last.
func (p *pauses) observe(t recording.Time, d hsperf.Data, sub recording.Subject) []recording.Event {
	frequency, ok := d.Number("sun.os.hrt.frequency")
	now, ticking := d.Number("sun.os.hrt.ticks")
	if !ok || !ticking || frequency <= 0 {
		return nil
	}
	since := func(ticks int64) time.Duration {
		return time.Duration(float64(ticks) / float64(frequency) * float64(time.Second))
	}
	if origin := t.Add(-since(now)); p.origin == 0 || origin < p.origin {
		p.origin = origin
	}
	var out []recording.Event
	for i, name := range collectors(d) {
		prefix := "sun.gc.collector." + strconv.Itoa(i) + "."
		entry, ok := d.Number(prefix + "lastEntryTime")
		exit, ended := d.Number(prefix + "lastExitTime")
		if !ok || !ended {
			continue
		}
		if name == beside {
			continue
		}
		before, known := p.entered[name]
		p.entered[name] = entry
		_, begun := p.open[name]
		if exit < entry { // it goes on
			if !begun || before != entry {
				p.open[name] = recording.Event{
					T: p.origin.Add(since(entry)), Kind: recording.EventGCPause, Subject: sub,
					Attrs: map[string]string{"collector": name, "cause": d.Text("sun.gc.cause")},
				}
			}
			continue
		}
		delete(p.open, name)
		if !begun && (!known || before == entry) {
			continue
		}
		out = append(out, recording.Event{
			T: p.origin.Add(since(entry)), End: p.origin.Add(since(exit)), Kind: recording.EventGCPause, Subject: sub,
			Attrs: map[string]string{"collector": name, "cause": d.Text("sun.gc.lastCause")},
			Value: since(exit - entry).Seconds(), Unit: "s",
		})
	}
	return out
}

// unfinished are the collections that go on as the recording ends.
func (p *pauses) unfinished() []recording.Event {
	var out []recording.Event
	for _, e := range p.open {
		out = append(out, e)
	}
	return out
}
