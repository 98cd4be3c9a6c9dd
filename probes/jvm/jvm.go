// Package jvm reads the counters that every HotSpot JVM keeps in hsperfdata: once a
// second how long it stood still at safepoints, what its collectors took, its heap,
// and each collection that stopped the world as an event with exact times. It
// attaches to nothing for that: the file is read as jstat reads it. Only into a JVM that
// stands still for long, or that is asked for, does it put uprobes (safepoints.go).
package jvm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"snag/probes/jvm/hsperf"
	"snag/probes/probe"
	"snag/recording"
)

// Probe is the probe of the JVMs.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name   = "jvm"
	period = time.Second
	// searchEach ticks new JVMs are looked for.
	searchEach = 5
	// mostJVMs are read: each costs about 0.1 ms per second.
	mostJVMs = 64
	// pauseTold: a JVM that stood still this long in a second has its threads looked at.
	pauseTold = 0.2
	// pauseTraced: one that stood still this long in a second has its safepoints timed
	// exactly; a healthy one stays below it.
	pauseTraced = 0.05
)

// machine is one JVM while it runs.
type machine struct {
	found
	subject recording.Subject
	labels  recording.Labels
	pauses  *pauses
	read    bool // at least once
	err     error
	torn    int
	stood   float64 // safepoint seconds so far
	timed   bool
	paused  bool // long enough in a second to have its safepoints traced
	// overflow is the bytes of counters that found no room.
	overflow int
}

type sampler struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   sync.WaitGroup

	find     finder
	all      map[int]*machine
	stops    *stops
	logs     *journals
	machines map[int]string // of processes without counters, what they run on
	ended    int
	left     int // JVMs beyond the bound
	ticks    int
	buf      []byte
	since    recording.Time
	late     time.Duration
	cost     float64
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	s := &sampler{env: env, find: finder{proc: env.Proc}, stops: newStops(env.Proc), logs: newJournals(env.Proc, env.Now, env.Sink.Append), all: map[int]*machine{}, since: env.Now(), buf: make([]byte, 64<<10)}
	ctx, s.cancel = context.WithCancel(ctx)
	s.done.Add(1)
	go s.run(ctx)
	return s, nil
}

func (s *sampler) run(ctx context.Context) {
	defer s.done.Done()
	var work probe.Work
	probe.Every(ctx, period, work.During(func(late time.Duration) {
		s.late = max(s.late, late)
		s.tick()
		s.cost = work.CPU()
		now := s.env.Now()
		labels := recording.Labels{"probe": name}
		s.env.Sink.Sample(now, "snag_probe_cpu_seconds_total", labels, s.cost)
		s.env.Sink.Sample(now, "snag_probe_late_seconds", labels, late.Seconds())
		if s.ticks%searchEach == 0 {
			s.cover() // for a recording that is cut off
		}
	}))
	work.Begin()
	defer work.End()
	s.tick()
	for _, m := range s.all {
		for _, e := range m.pauses.unfinished() {
			s.env.Sink.Append(e)
		}
		m.file.Close()
	}
	s.cost = work.CPU()
}

// Stop implements probe.Running.
func (s *sampler) Stop() {
	s.cancel()
	s.done.Wait()
	s.cover()
	s.stops.close()
}

func (s *sampler) cover() {
	s.env.Sink.Append(s.coverage())
	s.env.Sink.Append(s.stops.coverage(s.since))
	s.env.Sink.Append(s.logs.coverage(s.since, len(s.all)+len(s.find.bare), s.find.hidden))
}

func (s *sampler) tick() {
	if s.ticks%s.env.Ticks(searchEach) == 0 {
		s.search()
	}
	s.ticks++
	for pid, m := range s.all {
		if !s.alive(m) {
			m.file.Close()
			delete(s.all, pid)
			s.stops.forget(pid)
			s.ended++
			continue
		}
		s.look(m)
		if m.paused || s.asked(pid) {
			s.stops.follow(pid)
		}
	}
	s.readLogs()
	for _, stop := range s.stops.take() {
		s.env.Sink.Append(eventOf(stop, s.env.Anchor, comm(s.env.Proc, int(stop.Pid))))
	}
}

// readLogs takes what the JVMs have logged themselves, also those without counters.
func (s *sampler) readLogs() {
	for pid := range s.logs.of {
		sub, origin := recording.Subject{Kind: recording.KindProcess, PID: pid, Comm: comm(s.env.Proc, pid)}, recording.Time(0)
		if m := s.all[pid]; m != nil {
			origin = m.pauses.origin
		}
		for _, e := range s.logs.take(pid, origin, sub) {
			s.env.Sink.Append(e)
			if e.Kind == recording.EventAllocStall && e.Value >= pauseTold {
				s.env.Watch.Add(pid, fmt.Sprintf("its thread %q waited %.0f ms for the collector", e.Attrs["thread"], 1000*e.Value))
			}
		}
		if sub.Comm == "" { // it has ended
			s.logs.forget(pid)
		}
	}
}

// asked reports whether the user, or a suspicion, asks for this process.
func (s *sampler) asked(pid int) bool {
	return s.env.Closer != nil && s.env.Closer.Has(pid) || slices.Contains(s.env.Target.PIDs, pid)
}

func (s *sampler) search() {
	known := map[int]bool{}
	for pid := range s.all {
		known[pid] = true
	}
	s.left = 0
	for _, f := range s.find.search(known) {
		if len(s.all) >= mostJVMs {
			s.left++
			f.file.Close()
			continue
		}
		s.all[f.pid] = &machine{
			found: f, labels: recording.Labels{"pid": strconv.Itoa(f.pid)}, pauses: newPauses(),
			subject: recording.Subject{Kind: recording.KindProcess, PID: f.pid, Comm: comm(s.env.Proc, f.pid)},
		}
	}
	for pid := range s.all {
		s.logs.search(pid)
	}
	for pid := range s.find.bare {
		if s.all[pid] == nil && len(s.logs.of) < mostJVMs {
			s.logs.search(pid)
		}
	}
}

// alive reports whether the JVM still has its file: it is removed when the JVM ends.
func (s *sampler) alive(m *machine) bool {
	return comm(s.env.Proc, m.pid) != ""
}

// look reads the counters of one JVM and writes what they say.
func (s *sampler) look(m *machine) {
	t := s.env.Now()
	n, err := m.file.ReadAt(s.buf, 0)
	for err == nil && n == len(s.buf) && n < mostBytes { // -XX:PerfDataMemorySize was raised
		s.buf = make([]byte, 2*len(s.buf))
		n, err = m.file.ReadAt(s.buf, 0)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		m.err = fmt.Errorf("read %s of process %d: %w", m.path, m.pid, err)
		return
	}
	d, err := hsperf.Decode(s.buf[:n])
	if err != nil {
		m.err = fmt.Errorf("process %d, %s: %w", m.pid, m.path, err)
		return
	}
	m.err, m.torn, m.overflow = nil, d.Torn, d.Overflow
	for _, v := range samplesOf(d) {
		labels := m.labels
		if v.labels != nil {
			labels = recording.Labels{"pid": m.labels["pid"]}
			for k, text := range v.labels {
				labels[k] = text
			}
		}
		s.env.Sink.Sample(t, v.name, labels, v.v)
	}
	for _, e := range m.pauses.observe(t, d, m.subject) {
		s.env.Sink.Append(e)
	}
	if !m.read {
		for _, f := range factsOf(m.pid, d, m.path) {
			f.T = t
			s.env.Sink.Append(f)
		}
	}
	stood, ok := seconds(d, "sun.rt.safepointTime")
	grown := stood - m.stood
	m.paused = m.paused || ok && m.timed && grown >= pauseTraced
	if ok && m.timed && grown >= pauseTold {
		s.env.Watch.Add(m.pid, fmt.Sprintf("its JVM was paused for %.0f ms in a second", 1000*grown))
	}
	m.read, m.stood, m.timed = true, stood, ok
}
