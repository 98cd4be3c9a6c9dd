// Package probes runs the live probes together: it resolves what the user wants
// to look at, starts each probe, keeps them going for the window, and leaves a
// recording behind.
package probes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/internal/netns"
	"snag/probes/drops"
	"snag/probes/ends"
	"snag/probes/host"
	"snag/probes/jvm"
	"snag/probes/logs"
	"snag/probes/memory"
	"snag/probes/nics"
	"snag/probes/offcpu"
	"snag/probes/oncpu"
	"snag/probes/probe"
	"snag/probes/routes"
	"snag/probes/runtimes"
	"snag/probes/sockets"
	"snag/probes/states"
	"snag/probes/streams"
	"snag/probes/syscalls"
	"snag/probes/threads"
	"snag/recording"
)

// All is the list of live probes, in the order in which they start. A new probe
// is one folder and one line here.
var All = []probe.Probe{
	drops.Probe,
	sockets.Probe,
	threads.Probe,
	states.Probe,
	ends.Probe,
	oncpu.Probe,
	offcpu.Probe,
	memory.Probe,
	syscalls.Probe,
	jvm.Probe,
	runtimes.Probe,
	logs.Probe,
	nics.Probe,
	host.Probe,
	routes.Probe,
	streams.Probe,
}

// maxWatched processes are looked at closely; beyond it coverage says so.
const maxWatched = 64

// maxCloser processes are looked at by the costly probes.
const maxCloser = 64

// mostStacks different stacks have an id in one recording.
const mostStacks = 20000

// Plan is what to record.
type Plan struct {
	Dir      string
	For      time.Duration
	Target   recording.Target // as the user gave it
	Symptoms []string
	Since    recording.Time // when the user says that it began; 0: not said
	Streams  []string       // URLs of live streams to read meanwhile, as a viewer would
	Layers   string         // one stream's places: ingest=URL,origin=URL,edge=URL
	// Reading stands in the place of the probe of its name: somebody reads the
	// streams already. nil: all are as in All.
	Reading *probe.Probe
	// Load sends requests meanwhile; nil: none are sent.
	Load   *probe.Probe
	Probes []string // only these; empty: all
	Closer []int    // processes that the costly probes look at from the start
	// Remaining is asked after the first part of the window, and now and then later, which processes the
	// costly probes shall look at in the rest; nil: none but Closer.
	Remaining func() []Look
	Whole     bool // it is made for its profile: see probe.Env
	Unwind    bool // see probe.Env
	Inlined   bool // see probe.Env
	// CloserTarget has them look at the target's processes, and CloserAll at all.
	CloserTarget, CloserAll bool
	// Peek is how many bytes of a buffer may be looked into for the name of what a
	// connection carries (snag syscalls --peek); 0: none.
	Peek               int
	GoLocks, GoRuntime bool // see probe.Env
	// Budget is what the costly probes may take of the machine's CPU time, 0 to 1; 0
	// is no limit.
	Budget float64
	// OwnNetns: the network namespace that snag was started in is recorded as if it were a host of its own
	// (ownspace.go).
	OwnNetns bool
	// Into opens the destination, a ring, instead of the folder Dir. Round is rotated when
	// its next piece begins.
	Into  func(m recording.Manifest, now func() recording.Time) (Keeper, error)
	Round *probe.Rotation
	// Continuous: see probe.Env.
	Continuous bool
	Snag       string // version
	Notice     func(text string)
	// Tick is told once a second how much of the window is left.
	Tick func(left time.Duration)
	// Between is called between the parts: when all probes have been started, before
	// they are ended, and before the recording is closed. What the one part needed the
	// next does not. May be nil.
	Between func()

	read func() clocks // nil: the machine's
}

// Keeper is where a recording goes.
type Keeper interface {
	recording.Sink
	// Failed is closed when nothing more can be written.
	Failed() <-chan struct{}
	Close() error
}

func (p Plan) open(m recording.Manifest, now func() recording.Time) (Keeper, error) {
	if p.Into != nil {
		return p.Into(m, now)
	}
	return recording.Create(p.Dir, m, recording.Options{Now: now})
}

func (p Plan) clocks() func() clocks {
	if p.read != nil {
		return p.read
	}
	return readClocks
}

// NotBegunError is why nothing was recorded: there is no such target, or Dir can't
// be recorded to. What Dir holds, if anything, is not this recording.
type NotBegunError struct{ Err error }

func (e *NotBegunError) Error() string { return e.Err.Error() }

func (e *NotBegunError) Unwrap() error { return e.Err }

// Record runs every probe until the window is over or ctx ends, and returns once
// the recording is closed. What was recorded before an error is kept in Dir; a
// NotBegunError reports that there is nothing.
func Record(ctx context.Context, p Plan) error {
	all := slices.Clone(All)
	for i := range all {
		if p.Reading != nil && all[i].Name == p.Reading.Name {
			all[i] = *p.Reading
		}
	}
	if p.Load != nil { // the last to start, and the first to end: the others see all of it
		all = append(all, *p.Load)
	}
	return record(ctx, p, all)
}

func record(ctx context.Context, p Plan, all []probe.Probe) error {
	_ = kernel.Unhurried() // without, it costs the host some wake-ups more
	own, err := netns.IDOf("/proc/thread-self/ns/net")
	if err != nil {
		return &NotBegunError{fmt.Errorf("find snag's own network namespace: %w (is /proc mounted?)", err)}
	}
	target, err := Resolve("/proc", own, p.Target)
	if err != nil {
		return &NotBegunError{err}
	}
	closer := p.Closer
	if p.CloserTarget {
		closer = append(slices.Clone(closer), target.PIDs...)
	}
	anchor := probe.NewAnchor()
	env := &probe.Env{
		Proc: "/proc", Sys: "/sys", Anchor: anchor, SelfPID: os.Getpid(), Netns: own,
		Target: target, Watch: probe.NewWatch(maxWatched), Notice: p.Notice,
		Closer: probe.NewWatch(max(maxCloser, len(closer))).In("/proc"), CloserAll: p.CloserAll, Peek: p.Peek, Budget: probe.NewBudget(p.Budget, runtime.NumCPU()),
		Streams: p.Streams, Layers: p.Layers, Whole: p.Whole, Unwind: p.Unwind, Inlined: p.Inlined,
		GoLocks: p.GoLocks, GoRuntime: p.GoRuntime, Round: p.Round, Continuous: p.Continuous,
	}
	if p.Continuous {
		env.Spaces = &netns.Shared{}
	}
	w, err := p.open(manifest(p, target, anchor, own), env.Now)
	if err != nil {
		return &NotBegunError{err}
	}
	sink := recording.Sink(w)
	if p.OwnNetns {
		only := newOwnSpace(w, own, env.Proc)
		sink, env.Spaces = only, &netns.Shared{Only: true}
		env.Watch.Only(only.holds)
		env.Closer.Only(only.holds)
	}
	spent := newCosts(sink)
	env.Sink = spent
	env.Stacks = probe.NewStacks(w, mostStacks).In(p.Round)
	for _, pid := range closer {
		env.Closer.Add(pid, "asked for")
	}
	for _, pid := range target.PIDs {
		env.Watch.Add(pid, "asked for")
		if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
			env.Watch.Note(pid, strings.TrimSuffix(string(comm), "\n"))
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	running := start(ctx, env, chosen(all, p.Probes))
	kernel.ForgetTypes()
	p.between()
	over := make(chan struct{})
	var asked sync.WaitGroup
	asked.Go(func() { lookCloser(env, p, over) })
	steps := newStepWatch(p.clocks())
	wait(ctx, p, w.Failed(), func() { steps.notice(w, env.Now(), p.Notice) })
	close(over)
	asked.Wait()
	p.between()
	for i := len(running) - 1; i >= 0; i-- {
		running[i].Stop()
	}
	spent.settle()
	tellSpent(env)
	tellCost(env)
	p.between()
	return w.Close()
}

func (p Plan) between() {
	if p.Between != nil {
		p.Between()
	}
}

// start starts each probe; one that can't run is told in the coverage.
func start(ctx context.Context, env *probe.Env, all []probe.Probe) []probe.Running {
	var running []probe.Running
	for _, p := range all {
		r, err := p.Start(ctx, env)
		if err != nil {
			c := recording.Coverage{Probe: p.Name, State: recording.CoverageFailed, Why: err.Error()}
			var u *probe.Unavailable
			if errors.As(err, &u) {
				c.State, c.Why, c.Cure = recording.CoverageUnavailable, u.Why, u.Cure
			}
			env.Sink.Append(c)
			continue
		}
		running = append(running, r)
	}
	return running
}

// wait lets the window pass. It returns early when ctx ends, the user having
// seen enough, and when nothing more can be written. look is called once a second
// and at the end.
func wait(ctx context.Context, p Plan, failed <-chan struct{}, look func()) {
	defer look()
	end := time.Now().Add(p.For)
	for {
		left := time.Until(end)
		if left <= 0 {
			return
		}
		if p.Tick != nil {
			p.Tick(left)
		}
		select {
		case <-ctx.Done():
			return
		case <-failed: // the disk is full, say: what was written is kept and judged
			return
		case <-time.After(min(left, lookEach)):
			look()
		}
	}
}

// chosen are the probes of those names; without names, all.
func chosen(all []probe.Probe, names []string) []probe.Probe {
	if len(names) == 0 {
		return all
	}
	var out []probe.Probe
	for _, p := range all {
		if slices.Contains(names, p.Name) {
			out = append(out, p)
		}
	}
	return out
}

func manifest(p Plan, target recording.Target, anchor recording.Anchor, own uint64) recording.Manifest {
	m := recording.Manifest{
		Version: recording.Version, Snag: p.Snag, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), PageSize: os.Getpagesize(),
		Anchor: anchor, Start: recording.Time(anchor.Wall), Target: target, Symptoms: p.Symptoms,
		Since: p.Since, SelfPID: os.Getpid(), Netns: own,
	}
	_, m.UTCOffset = time.Now().Zone()
	m.Host, _ = os.Hostname() // a host without a name is still a host
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		m.BootID = strings.TrimSpace(string(b))
	}
	return m
}
