package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ProcessOf returns the last process that was started under that name, or
// nil: for checks of the truth.
func (s *Stage) ProcessOf(name string) *Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range slices.Backward(s.procs) {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// AwaitOutput waits until what a process printed is as it should be.
func (s *Stage) AwaitOutput(p *Process, what string, ok func(printed string) bool) {
	s.Await(fmt.Sprintf("%s: %s", p.Name, what), 30*time.Second, func() (bool, error) { return ok(p.Printed()), nil })
}

// Fail ends the building of a stage with an error and returns a process that
// never was, for functions that start one.
func (s *Stage) Fail(name string, err error) *Process {
	p := &Process{Name: name, done: make(chan struct{})}
	close(p.done)
	s.fail(fmt.Errorf("lab: start %s: %w", name, err))
	return p
}

// Listens is a condition for Await: a TCP listener at an address that ends so.
func (s *Stage) Listens(ns, suffix string) func() (bool, error) {
	return func() (bool, error) {
		out, err := s.Output(ns, "ss", "-Hltn")
		if err != nil {
			return false, err
		}
		for _, line := range strings.Split(out, "\n") {
			if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[3], suffix) {
				return true, nil
			}
		}
		return false, nil
	}
}
