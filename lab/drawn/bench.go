package drawn

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"snag/lab"
	"snag/lab/clientlog"
)

// Bench is what a family is built on: a stage, and the values of the draw.
type Bench struct {
	*lab.Stage
	*Draw
	// Faulty is false in the healthy run of the draw.
	Faulty bool
	// Quiet: the run of a noisy family without its noise.
	Quiet bool
	// Fault is the one that was picked, in both runs; empty in a healthy family.
	Fault Fault

	logs    []string
	rtt     time.Duration // of the last Net
	on, off func()
	built   bool
	amount  []string
	windows []func() // what is done when the window begins
	askers  []*lab.Process
}

// NewBench is a bench for one run of a draw. The fault is that of the name, or drawn.
func NewBench(s *lab.Stage, f Family, d *Draw, fault string, faulty bool) (*Bench, error) {
	b := &Bench{Stage: s, Draw: d, Faulty: faulty}
	if len(f.Faults) == 0 {
		b.Faulty = false
		return b, nil
	}
	var err error
	b.Fault, err = f.faultOf(d, fault)
	return b, err
}

// faultOf is the family's fault of that name, or the one that is drawn.
func (f Family) faultOf(d *Draw, name string) (Fault, error) {
	if name == "" {
		var names []string
		for _, x := range f.Faults {
			names = append(names, x.Name)
		}
		name = Pick(d, "fault", names...)
	}
	return f.FaultNamed(name)
}

// ClientLog returns the path of a new client's log, which the referee reads; the client writes
// it (an actor by --log, another program by lab/pyclient or by Convert).
func (b *Bench) ClientLog(name string) string {
	path := filepath.Join(b.Dir(), fmt.Sprintf("%s-%d.clientlog", name, len(b.logs)))
	b.logs = append(b.logs, path)
	return path
}

// Built reports whether a fault of that name is to be built in: it is the one picked, and
// this is the faulty run. For faults that can't be switched on a running service: Whole.
func (b *Bench) Built(name string) bool {
	is := b.Faulty && b.Fault.Name == name
	b.built = b.built || is
	return is
}

// Switch says how the fault of that name begins and ends on the running service. It does
// nothing for the faults that were not picked. Off is nil where the fault can't be taken
// back: Whole.
func (b *Bench) Switch(name string, on, off func()) {
	if b.Faulty && b.Fault.Name == name {
		b.on, b.off = on, off
	}
}

// prepared reports whether Build did with the fault what the family says of it.
func (b *Bench) prepared(f Family) error {
	switch {
	case !b.Faulty:
		return nil
	case b.on == nil && !b.built:
		return fmt.Errorf("the family %s neither built in nor switches its fault %s", f.Name, b.Fault.Name)
	case !b.Fault.Whole && (b.built || b.off == nil):
		return fmt.Errorf("the family %s can't take back its fault %s: it must be Whole", f.Name, b.Fault.Name)
	case len(b.logs) == 0:
		return fmt.Errorf("the family %s has no client that keeps a log", f.Name)
	}
	return nil
}

// Noise reports whether a noisy family's noise is to be made.
func (b *Bench) Noise() bool { return !b.Quiet }

// Amount notes how much of the fault was injected, for the truth: "a lock held for 41 ms
// in each of 120 requests per second".
func (b *Bench) Amount(format string, args ...any) {
	if b.Faulty {
		b.amount = append(b.amount, fmt.Sprintf(format, args...))
	}
}

// AtWindow has something done when the window begins, in both runs: a deployment, a
// backup.
func (b *Bench) AtWindow(do func()) { b.windows = append(b.windows, do) }

// settled is how much a client must have measured before the window begins.
const settled = 10

// settle waits until the clients have measured something.
func (b *Bench) settle() {
	for _, path := range b.logs {
		b.Await("the client of "+filepath.Base(path)+" to measure", 30*time.Second, func() (bool, error) {
			l, err := clientlog.Read(path)
			if err != nil {
				return false, err
			}
			answered := 0
			for _, r := range l.Requests {
				if r.Outcome == clientlog.OK {
					answered++
				}
			}
			if b.built { // with the fault built in, few may be answered, and nothing may arrive
				return b.anyMeasured()
			}
			return answered >= settled || len(l.Arrived) >= 3 || len(l.Delivered) >= 3 || len(l.Sent) >= 3, nil
		})
	}
}

// anyMeasured reports whether one of the clients has asked, sent or got something.
func (b *Bench) anyMeasured() (bool, error) {
	logs, err := b.read()
	for _, l := range logs {
		if len(l.Requests) >= settled || max(len(l.Arrived), len(l.Delivered), len(l.Sent)) >= 3 {
			return true, nil
		}
	}
	return false, err
}

// read reads the clients' logs.
func (b *Bench) read() ([]clientlog.Log, error) {
	var out []clientlog.Log
	for _, path := range slices.Compact(b.logs) {
		l, err := clientlog.Read(path)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}
