package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"snag/tools/benchhost"
)

// bench is one run of everything.
type bench struct {
	o      *options
	self   string // this program, which is the servers too
	raw    string // the folder for what programs printed
	runs   int
	report report
	// Servers stay on one CPU and generators on another, where there are two.
	serverCPU, clientCPU int
}

func newBench(o *options) (*bench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &bench{o: o, self: self, raw: filepath.Join(o.out, "raw"), clientCPU: min(1, runtime.NumCPU()-1)}
	if err := os.RemoveAll(b.raw); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.raw, 0o755); err != nil {
		return nil, err
	}
	b.report = report{Machine: benchhost.Machine(), Began: time.Now(), Contests: map[string]map[string][]figures{}, Missing: map[string]string{}, Checks: map[string][]checked{}}
	b.report.Versions = b.versions()
	return b, nil
}

// all measures round after round, so that what drifts meanwhile is in each contender's figures. What was measured
// is kept, whatever fails later.
func (b *bench) all(ctx context.Context) error {
	for round := range b.o.rounds {
		for _, c := range contests {
			if b.o.only.MatchString(c.name) {
				if err := b.contest(ctx, c, round); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
		}
		for _, c := range checks {
			if b.o.only.MatchString(c.name) {
				if err := b.check(ctx, c, round); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
		}
		if err := b.keep(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) keep() error {
	return benchhost.WriteJSON(filepath.Join(b.o.out, reportFile), &b.report)
}

// contest has each contender measured once, in the other order in every second round.
func (b *bench) contest(ctx context.Context, c contest, round int) error {
	if b.report.Contests[c.name] == nil {
		b.report.Contests[c.name] = map[string][]figures{}
	}
	order := slices.Clone(c.contenders)
	if round%2 == 1 {
		slices.Reverse(order)
	}
	s, err := c.server(ctx, b)
	if err != nil {
		return b.missing(c.name, err)
	}
	defer s.end()
	for _, who := range order {
		f, err := who.measure(ctx, b, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if err := b.missing(c.name+", "+who.name, err); err != nil {
				return err
			}
			continue
		}
		b.report.Contests[c.name][who.name] = append(b.report.Contests[c.name][who.name], f)
		fmt.Fprintf(os.Stderr, "benchload: round %d: %s: %s: %s\n", round+1, c.name, who.name, f)
		if err := b.keep(); err != nil {
			return err
		}
	}
	return nil
}

// missing notes what could not be measured, and why. That ends nothing: the other rows are of use without it.
func (b *bench) missing(what string, err error) error {
	b.report.Missing[what] = err.Error()
	fmt.Fprintf(os.Stderr, "benchload: %s: not measured: %v\n", what, err)
	return b.keep()
}

func (b *bench) check(ctx context.Context, c check, round int) error {
	got, err := c.run(ctx, b)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return b.missing(c.name, err)
	}
	b.report.Checks[c.name] = append(b.report.Checks[c.name], got)
	fmt.Fprintf(os.Stderr, "benchload: round %d: %s: %s\n", round+1, c.name, got.Detail)
	return b.keep()
}
