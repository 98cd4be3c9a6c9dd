// Package profile shows where the time of a recording went, on the CPUs or off
// them: as a table for a terminal, and as files that others' viewers open: pprof,
// folded stacks, speedscope.
package profile

import (
	"cmp"
	"fmt"
	"sort"
	"strings"

	"snag/internal/sorting"
	"snag/recording"
)

// Kinds of profile.
const (
	OnCPU  = "oncpu"
	OffCPU = "offcpu"
)

// Profile is where the time of some threads went.
type Profile struct {
	Kind string // OnCPU or OffCPU
	// Event is what was counted between two samples, as perf names it ("cycles",
	// "page-faults"); "" is time.
	Event string
	// Unit is that of the samples' values: "s", what Event counts ("cycles"), or
	// "samples" where the file did not tell how much of it one stands for.
	Unit    string
	Samples []Sample
	Start   recording.Time
	Seconds float64 // that were recorded
	CPUs    int
	Hz      float64 // of OnCPU: samples per second and CPU; 0 where Event is no time
	// Taken are the samples of all CPUs, idle ones and other processes' included; 0
	// unknown. Of OnCPU.
	Taken float64
	// BuildIDs are those of the objects, by path, where they are known.
	BuildIDs map[string]string
	// Doubts are what the probe says of itself: what it lost, why names are missing.
	Doubts []Doubt
}

// Doubt is what the probe says of one thing that it measures in part.
type Doubt struct{ Probe, Why, Cure string }

func (d Doubt) text() string { return d.Probe + ": " + d.Why + inBrackets(d.Cure) }

// Sample is the time that one thread spent with one stack, or how much of an event
// came while it had it.
type Sample struct {
	PID, TID int
	Process  string // its name
	Thread   string // the thread's
	Frames   []Frame
	Kernel   int     // the first frames that are the kernel's
	Cut      string  // why the stack ends early; "" it does not
	Reason   string  // of OffCPU: what was waited for
	N        uint64  // samples, or waits
	Value    float64 // in the profile's Unit
}

// Frame is one function of a stack.
type Frame struct {
	Function string
	Object   string // the file it lies in; "" of the kernel, or not known
	Kernel   bool
}

// Options choose what of a recording is shown.
type Options struct {
	Kind string
	PID  int // 0: all
	// Event of OnCPU: one of Events; "" is time or, where that was not taken, the first
	// of them.
	Event string
	Comm  string // only processes of that name; "" all
}

// measures are what has to have been taken.
var measures = map[string]string{OnCPU: "oncpu.stacks", OffCPU: "offcpu.waits"}

// From takes the profile out of a recording. An error says what was not recorded.
func From(r *recording.Recording, o Options) (*Profile, error) {
	p := &Profile{Kind: o.Kind, Unit: Seconds, Start: r.Manifest.Start, Seconds: r.Length().Seconds(), CPUs: r.Manifest.CPUs, BuildIDs: map[string]string{}}
	rows := len(r.OnCPU)
	if o.Kind == OffCPU {
		rows = len(r.OffCPU)
	}
	if c, ok := r.Measured(measures[o.Kind]); !ok && rows == 0 {
		return nil, fmt.Errorf("profile of the time %s: it was not recorded: %s%s", spoken(o.Kind), c.Why, inBrackets(c.Cure))
	}
	for _, l := range r.Libraries {
		if l.BuildID != "" {
			p.BuildIDs[l.Path] = l.BuildID
		}
	}
	t := taker{p: p, stacks: map[int]*recording.Stack{}, names: processNames(r), only: o.PID, comm: o.Comm, index: map[sampleKey]int{}}
	for i := range r.Stacks {
		t.stacks[r.Stacks[i].ID] = &r.Stacks[i]
	}
	if o.Kind == OffCPU {
		for _, row := range r.OffCPU {
			t.add(row.PID, row.TID, row.Comm, row.Reason, row.Stack, row.N, row.Sum)
		}
	} else {
		p.Event = eventOf(r, o.Event)
		p.Unit = UnitOf(r, p.Event)
		for _, row := range r.OnCPU {
			if row.Event == p.Event {
				p.Hz = max(p.Hz, row.Hz)
				t.add(row.PID, row.TID, row.Comm, "", row.Stack, row.N, p.valueOf(row))
			}
		}
		if p.Event == "" {
			p.Taken = taken(r)
		}
	}
	sort.SliceStable(p.Samples, func(i, j int) bool { return p.Samples[i].Value > p.Samples[j].Value })
	p.Doubts = doubts(r, o.Kind)
	return p, nil
}

func spoken(kind string) string {
	if kind == OffCPU {
		return "off the CPU"
	}
	return "on the CPU"
}

// taken is how many samples the probe took in all.
func taken(r *recording.Recording) float64 {
	sum := 0.0
	for _, s := range r.Select("snag_oncpu_samples_total", "what", "all") {
		if len(s.Points) > 0 {
			sum += s.Points[len(s.Points)-1].V
		}
	}
	return sum
}

// processNames are the names of processes: of their first thread, which a row of
// another thread does not tell.
func processNames(r *recording.Recording) map[int]string {
	out := map[int]string{}
	note := func(pid, tid int, comm string) {
		if tid == pid || tid == 0 && out[pid] == "" {
			out[pid] = comm
		}
	}
	for _, row := range r.OnCPU {
		note(row.PID, row.TID, row.Comm)
	}
	for _, row := range r.OffCPU {
		note(row.PID, row.TID, row.Comm)
	}
	for _, p := range r.Processes {
		out[p.PID] = p.Comm
	}
	return out
}

type sampleKey struct {
	pid, tid, stack int
	reason, comm    string
}

// taker puts the rows of all seconds together.
type taker struct {
	p      *Profile
	stacks map[int]*recording.Stack
	names  map[int]string
	only   int
	comm   string
	index  map[sampleKey]int
}

func (t *taker) add(pid, tid int, comm, reason string, stack int, n uint64, value float64) {
	if t.only != 0 && pid != t.only || t.comm != "" && t.comm != comm && (pid == 0 || t.comm != t.names[pid]) {
		return
	}
	k := sampleKey{pid, tid, stack, reason, ""}
	if pid == 0 { // a file that names no processes
		k.comm = comm
	}
	i, ok := t.index[k]
	if !ok {
		i = len(t.p.Samples)
		t.index[k] = i
		s := Sample{PID: pid, TID: tid, Process: t.names[pid], Thread: comm, Reason: reason}
		if s.Process == "" || pid == 0 {
			s.Process = comm
		}
		if st := t.stacks[stack]; st != nil {
			s.Frames, s.Kernel, s.Cut = framesOf(st)
		}
		t.p.Samples = append(t.p.Samples, s)
	}
	t.p.Samples[i].N += n
	t.p.Samples[i].Value += value
}

func framesOf(s *recording.Stack) (frames []Frame, kernel int, cut string) {
	kernel = s.Kernel
	if kernel < 0 || kernel > len(s.Frames) {
		kernel = len(s.Frames)
	}
	for i, name := range s.Frames {
		f := Frame{Function: name, Kernel: i < kernel}
		if i < len(s.Objects) {
			f.Object = s.Objects[i]
		}
		frames = append(frames, f)
	}
	return frames, kernel, s.Cut
}

// doubts are the sentences of the coverage.
func doubts(r *recording.Recording, kind string) []Doubt {
	var out []Doubt
	for _, c := range r.Coverage {
		if (c.Probe == kind || strings.HasPrefix(c.Probe, kind+".")) && c.State != recording.CoverageOK && c.State != recording.CoverageOff {
			out = append(out, Doubt{c.Probe, c.Why, c.Cure})
		}
	}
	sorting.By(out, func(a, b Doubt) int { return cmp.Or(cmp.Compare(a.Probe, b.Probe), cmp.Compare(a.Why, b.Why)) })
	return out
}

// Total is what all samples stand for, in the profile's Unit.
func (p *Profile) Total() float64 {
	sum := 0.0
	for _, s := range p.Samples {
		sum += s.Value
	}
	return sum
}

// owner names a sample's process as a user knows it.
func (s *Sample) owner() string {
	if s.PID == 0 {
		return s.Process
	}
	return fmt.Sprintf("%s[%d]", s.Process, s.PID)
}

// path are the frames of a sample from its outermost on, the process first, and the
// thread where it has a name of its own.
func (s *Sample) path() []Frame {
	out := []Frame{{Function: s.owner()}}
	if s.TID != 0 && s.TID != s.PID && s.Thread != s.Process {
		out = append(out, Frame{Function: s.Thread})
	}
	if len(s.Frames) == 0 {
		out = append(out, noStack)
	}
	if s.Cut != "" {
		out = append(out, Frame{Function: "[cut: " + s.Cut + "]"})
	}
	for i := len(s.Frames) - 1; i >= 0; i-- {
		out = append(out, s.Frames[i])
	}
	if s.Reason != "" {
		out = append(out, Frame{Function: "waits: " + s.Reason})
	}
	return out
}
