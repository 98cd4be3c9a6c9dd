// Package lab makes real incidents on this machine, each with a healthy twin and
// a distractor, runs snag beside them and compares its verdict with the truth.
//
// An incident is one folder, lab/NAME/, that exports `Incident`, and one line in
// lab/all. It builds its topology on a Stage: network namespaces, veth pairs,
// cgroups, and processes with real sockets (the actors of lab/actor, re-executed
// from the snag binary, or programs such as nginx). Everything it makes is known
// to a janitor process that removes it even when the lab is killed.
//
// snag itself is used through its command line only, on the whole machine: the
// user would not know where to look either.
package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Variant is which of its three forms an incident takes.
type Variant string

// The variants. Healthy has the topology and the traffic of Sick without the
// fault. Distractor looks like the fault and is not: a trap of the catalogue.
const (
	Sick       Variant = "sick"
	Healthy    Variant = "healthy"
	Distractor Variant = "distractor"
)

// Variants in the order in which they are run and printed.
var Variants = []Variant{Sick, Healthy, Distractor}

// Level is how hard an incident hits.
type Level string

// The levels. Barely is just felt by the incident's symptom, severe is what a
// broken production looks like.
const (
	Barely Level = "barely"
	Plain  Level = "plain"
	Severe Level = "severe"
)

// Levels in the order in which they are run and printed.
var Levels = []Level{Barely, Plain, Severe}

// Tool is a command that an incident calls.
type Tool struct {
	Command string
	Package string // the Debian package that has it
}

// Installed reports whether it is there: a command that can be run, or, given by its whole
// path, a file of any kind, such as a library of an interpreter.
func (t Tool) Installed() bool {
	if filepath.IsAbs(t.Command) {
		_, err := os.Stat(t.Command)
		return err == nil
	}
	_, err := exec.LookPath(t.Command)
	return err == nil
}

// VM is what an incident needs of the virtual machine that it runs in.
type VM struct {
	Suite  string // Debian release whose kernel is booted; "" is the newest that the lab knows
	Nodes  int    // NUMA nodes; 0 is one
	Memory int    // MiB; 0 is the usual
	// Modules that the kernel must load for it, besides the usual ones.
	Modules []string
	// Paused is whether the whole machine is stopped for some seconds while snag
	// find runs beside the Sick variant.
	Paused bool
	// Able tries what the incident needs and this kind of host may lack, on a stage
	// of its own (a queueing discipline on a loopback: AbleTo), and returns why it
	// can't be had. Nil: whatever Nodes and Paused ask for is all.
	Able func(*Stage) error
}

// Tools that several incidents use.
var (
	IP  = Tool{"ip", "iproute2"}
	TC  = Tool{"tc", "iproute2"}
	NFT = Tool{"nft", "nftables"}

	Sysctl = Tool{"sysctl", "procps"}
)

// Want is the verdict that is right. The zero Want is: nobody is accused.
type Want struct {
	// Suspect that must be the first culprit; "" when nobody may be one.
	Suspect string
	// Subject is a regular expression that the culprit's subject must match.
	Subject string
	// Symptoms that must be among the symptoms named; "a|b" asks for one of the two.
	Symptoms []string
	// Said is a suspect that must be spoken of in any state but cleared and
	// not-seen, without being the first culprit: a risk, or the observer.
	Said string
	// Also are suspects that may be culprits besides without being wrong, since
	// they are true of this incident too.
	Also []string
}

// Incident is one cause, made live.
type Incident struct {
	Name  string // the suspect's name in the catalogue
	Title string // what goes wrong, in a line
	// Long incidents are not part of the run of every commit.
	Long bool
	// Window is the shortest find that sees enough of it: an incident that comes every
	// ten seconds is not there in each eight. 0: any length does.
	Window time.Duration
	// Apart incidents look at their own namespaces only, need little CPU, and mostly
	// wait: two of them can be made at the same time without one changing the other.
	Apart bool
	// VM is set for an incident that this kind of host can't have: it runs in a
	// virtual machine (make lab-vm), and on a host only where it can.
	VM    *VM
	Needs []Tool
	Want  Want // in the Sick variant
	// Distractor says what the trap is; DistractorWant what is right there.
	Distractor     string
	DistractorWant Want
	// HealthyWant is the zero Want but for incidents whose healthy form says
	// something too.
	HealthyWant Want
	// Start builds the incident and returns once it is in full swing, seen by
	// its effect (Stage.Await), not by a sleep. An error of the Stage need not be
	// returned: Run asks for it.
	Start func(*Stage, Variant) error
	// Remedy is how snag's own plan heals it; nil where it has none that can be applied
	// here.
	Remedy *Remedy
}

// WantIn returns the verdict wanted in that variant.
func (i Incident) WantIn(v Variant) Want {
	switch v {
	case Sick:
		return i.Want
	case Distractor:
		return i.DistractorWant
	default:
		return i.HealthyWant
	}
}

// Find returns the incident of that name.
func Find(list []Incident, name string) (Incident, error) {
	for _, i := range list {
		if i.Name == name {
			return i, nil
		}
	}
	return Incident{}, fmt.Errorf("lab: no incident named %q: snag-lab list prints them", name)
}
