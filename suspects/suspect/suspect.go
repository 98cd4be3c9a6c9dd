// Package suspect says what a cause of the catalogue consists of: its name, what it needs,
// what speaks for and against it, what it leads to, its remedy, and Weigh, which turns a scene
// into findings. Weigh does no I/O and never decides the verdict: it reports evidence, graded.
package suspect

import (
	"time"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
)

// Side of a piece of evidence.
type Side string

// Evidence speaks for a suspect, against it, or is missing.
const (
	For     Side = "for"
	Against Side = "against"
	Missing Side = "missing"
)

// Grade is how much a piece of evidence can prove.
type Grade int

const (
	// Weak evidence is compatible with the cause. Any number never confirms.
	Weak Grade = iota
	// Strong evidence is rarely seen without the cause. Two of independent
	// origin confirm.
	Strong
	// Decisive evidence is an identity that only this cause makes. One confirms;
	// one on the other side clears.
	Decisive
)

// Evidence is one sentence with its number, unit, source and doubt.
type Evidence struct {
	Side  Side
	Grade Grade
	Text  string
	Value float64
	Unit  string
	// Source is what a person can look at ("/proc/net/snmp Udp RcvbufErrors"), with the measures
	// of the recording behind it.
	Source source.Source
	// Origin names the kernel line or act that made the number. Pieces of one
	// origin count once. "" stands for Source.
	Origin string
	// Doubt says what weakens it: losses, lateness, sampling. "" for none.
	Doubt string
	// Series selects the series behind it (source.Index has the grammar):
	// `node_netstat_Udp_RcvbufErrors{netns="4026532246"}`. The verdict fills it in by Source.
	Series []string
}

// Harm is what the finding costs, in its symptom's own unit.
type Harm struct {
	Symptom string  // scene.DatagramsLost …
	Amount  float64 // datagrams, seconds, connections …
	Of      float64 // of how many in all; 0 unknown
	Unit    string
	Text    string // "2,874 of 9,000 datagrams lost"
	Untimed bool   // of requests whose whole time the ledger does not have: asked before it began, or still open
	Sure    bool   // each of so many connections was seen to fail by this cause: one is enough
}

// Finding is what one suspect found on one subject.
type Finding struct {
	Subject  recording.Subject
	Evidence []Evidence
	// Active: the intervals in which the cause acted; empty where it is a state
	// that held for the whole window.
	Active []recording.Interval
	Harm   Harm
	// Text is the finding in words a person on call can act on: what, how much.
	Text string
	// Remedy is the change for this very subject.
	Remedy Remedy
	// Settings and Calls are the remedy as data, for a plan: what snag can set, and what
	// only the program can do.
	Settings []Setting
	Calls    []Call
	// Next is the command to paste that would show what is missing; "" if nothing is.
	Next string
	// Related are other subjects the finding is about (the peers of a storm, the
	// process that sent the signal), besides what the scene ties to Subject.
	Related []recording.Subject
	// NotBy names suspects that act on the subject, by their own measure, and were
	// measured here not to have caused this: a process that sleeps waits for no CPU.
	NotBy []string
	// NotTo names suspects and symptoms that it was measured here to be too weak for: who
	// gets a third of the CPU time that it asks for is slow, and does not stop.
	NotTo []string
	// Spares are parties whose late answers were measured not to be its doing.
	Spares []recording.Subject
	// Part is how much of what it claims it can have taken at most, 0 to 1; 0 is all. Of a
	// thread that waits for a CPU the hypervisor holds up what it stole, the rest others.
	Part float64
}

// Most is the part of a share of a delay that the finding can have caused.
func (f Finding) Most(share float64) float64 {
	if f.Part == 0 {
		return share
	}
	return f.Part * share
}

// InStep is the origin of evidence that answers took longer in the very seconds in which a cause acted.
const InStep = "in step"

// Lead is something a cause leads to: another suspect or a symptom.
type Lead struct {
	To  string
	Lag time.Duration // the usual longest time until it shows
}

// Need is a measure (recording.Measures) without which the suspect is blind, or
// sees less.
type Need struct {
	Measure string
	// Must: without it the suspect is not seen. Otherwise it only adds doubt.
	Must bool
	Why  string // what it shows here, for the catalogue
}

// Suspect is one cause of the catalogue.
type Suspect struct {
	Name string // as in the catalogue: udp-receive-buffer-full
	// Fixture: the lab has no hardware to make it live; it is shown on what others
	// recorded, and scored apart.
	Fixture bool
	Title   string // what a person would say: "UDP receive buffer too small"
	About   string // two or three sentences: how it hurts and what looks like it
	Needs   []Need
	// InTrace are measures that, all of them together, stand in for the needs that must be:
	// what a trace of the calls reports where no probe ran.
	InTrace []string
	// InFiles names, for a need, measures of files that others recorded any of which meets
	// it too: what packets (recording.Socket.Wire) or the lines of a log show of it.
	InFiles map[string][]string
	For     []string // what speaks for it, one line each, with the grade
	// Against: what speaks against it, and the traps.
	Against []string
	LeadsTo []Lead
	// Claims are the accounts of the ledger that it fills: late answers whose time is
	// booked elsewhere are not its doing. Empty: the ledger has no account of its own for it.
	Claims []ledger.Account
	Remedy Remedy // the usual one
	// Verified is how one sees that it helped.
	Verified string
	// Next is the general command that would show the cause when it was not seen.
	Next string
	// Weigh returns one finding per subject that has evidence on either side.
	// No findings while every Must need was measured means: cleared.
	Weigh func(*scene.Scene, *recording.Recording) []Finding
	// WeighBooked is Weigh of a suspect that goes by what was booked, too; one of both is set.
	WeighBooked func(*scene.Scene, *recording.Recording, *ledger.Ledger) []Finding
}

// Findings are what the suspect finds.
func (s *Suspect) Findings(sc *scene.Scene, r *recording.Recording, l *ledger.Ledger) []Finding {
	if s.WeighBooked != nil {
		return s.WeighBooked(sc, r, l)
	}
	return s.Weigh(sc, r)
}

// Blind returns the needs that were not measured, those that must be first. Of the
// others only those that were meant to be measured.
func (s *Suspect) Blind(r *recording.Recording) (must, rest []Need) {
	other := s.otherwise(r)
	for _, n := range s.Needs {
		c, ok := r.Measured(n.Measure)
		if !ok {
			ok = s.inFiles(r, n.Measure)
		}
		switch {
		case ok, other: // a trace of calls has its own, and is not in doubt for want of probes
		case n.Must:
			must = append(must, n)
		case c.State == recording.CoverageOff:
			// Nobody asked for it, as with a closer look that was not called for: that
			// is no doubt.
		default:
			rest = append(rest, n)
		}
	}
	return must, rest
}

// otherwise reports whether the measures that stand in for those it must have are there.
func (s *Suspect) otherwise(r *recording.Recording) bool {
	for _, m := range s.InTrace {
		if _, ok := r.Measured(m); !ok {
			return false
		}
	}
	return len(s.InTrace) > 0
}

// inFiles reports whether a file measured what meets a need.
func (s *Suspect) inFiles(r *recording.Recording, need string) bool {
	for _, m := range s.InFiles[need] {
		if _, ok := r.Measured(m); ok {
			return true
		}
	}
	return false
}

// Traced reports whether a recording was made of a trace of calls: what a probe would have
// counted was then told from their lines.
func Traced(r *recording.Recording) bool {
	_, ok := r.Measured(recording.Trace)
	return ok
}
