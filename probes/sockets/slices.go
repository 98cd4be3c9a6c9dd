package sockets

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"snag/internal/kernel"
	"snag/probes/probe"
)

// oftenShare is what the programs at each segment and each call may take of a CPU. A
// find's whole cost shall be 2 % of what a saturated machine does; the first second, which
// is whole, and all else take their part of it.
const oftenShare = 0.01

// inSlices has the programs that run often measure in slices of the time where they would
// take too much. Its lock is held while a slice begins or ends.
type inSlices struct {
	sync.Mutex
	probe.Sliced
	k     *inKernel
	first bool // the first slice: it sees what was there before it
}

// newSlices lets them take that share of a CPU.
func newSlices(k *inKernel, share float64) *inSlices {
	s := &inSlices{k: k, first: true}
	s.Sliced = probe.Sliced{Slices: probe.Slices{Share: share}, Begin: s.begin, End: s.end, Took: func() ([]time.Duration, error) { return kernel.Spent(k.maps.Maps["spent"], "sockets") }}
	return s
}

// begin attaches what is not yet, and lets all of them go at once.
func (s *inSlices) begin() error {
	s.Lock()
	defer s.Unlock()
	for _, a := range s.k.often {
		if a.link != nil || s.k.rests(a.hook) {
			continue
		}
		if err := a.attach(); err != nil {
			return kernel.Explain("counting again at tracepoint "+a.tracepoint, err)
		}
	}
	if !s.first {
		if err := s.k.set("slice_began", nanotime()); err != nil {
			return err
		}
	}
	s.first = false
	return s.k.set("on", true)
}

// forNames attaches what is for name servers, now that there is one: at once where a slice
// goes on, else the next one does.
func (s *inSlices) forNames() {
	s.Lock()
	defer s.Unlock()
	s.k.names = true
	within := slices.ContainsFunc(s.k.often, func(a *attached) bool { return a.link != nil })
	for _, a := range slices.Clone(s.k.often) { // refuse takes from it
		if !within || !a.forNames || a.link != nil {
			continue
		}
		if err := a.attach(); err != nil {
			s.k.refuse(a.hook, err)
		}
	}
}

// asksUnconnected reports whether a name server was asked from a socket that is connected to nobody.
func (k *inKernel) asksUnconnected() (asks bool) {
	_ = k.maps.Variables["asks_unconnected"].Get(&asks) // of a mapped array: can't fail after load
	return asks
}

// end detaches them and settles what they followed: what goes on is counted as open, and
// nothing of it is known in the next slice.
func (s *inSlices) end() error {
	s.Lock()
	defer s.Unlock()
	if err := s.k.set("on", false); err != nil {
		return err
	}
	kernel.Grace()
	err := s.k.settle()
	for _, a := range s.k.often {
		a.detach()
	}
	return err
}

func (k *inKernel) set(name string, v any) error {
	if err := k.maps.Variables[name].Set(v); err != nil {
		return fmt.Errorf("set %s of the BPF programs of sockets: %w", name, err)
	}
	return nil
}

// settle ends a slice in the tables. No program that follows something runs.
func (k *inKernel) settle() error {
	if err := k.set("ending", true); err != nil {
		return err
	}
	if err := k.sweep(); err != nil {
		return err
	}
	if err := k.set("ending", false); err != nil {
		return err
	}
	var slice uint32
	if err := k.maps.Variables["slice"].Get(&slice); err != nil {
		return fmt.Errorf("count the slices of sockets: %w", err)
	}
	if err := k.set("slice", slice+1); err != nil {
		return err
	}
	// The ACKs that free what is held now are not seen.
	if err := kernel.Drain(k.maps.Maps["pendings"], "sockets", func(*uint64, *kernelPending) {}); err != nil {
		return err
	}
	return k.set("holding", uint32(0))
}
