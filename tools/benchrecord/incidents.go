package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/tools/benchhost"
)

// A service runs well for a while before its fault. A recorder is asked about the time
// until a second before the fault, and about the incident from some seconds after it on:
// a script that waits, or a release that starts, takes that long. It is asked some seconds
// after the end, when the last samples are written.
const (
	healthyFor = 25 * time.Second
	beforeFor  = 20 * time.Second
	beforeGap  = time.Second
	duringGap  = 3 * time.Second
	restFor    = 15 * time.Second
	askFor     = 2 * time.Minute  // at most, one tool about one incident
	allFor     = 30 * time.Minute // at most
)

// makeIncidents makes them one after the other while all recorders run side by side, and
// asks each recorder after each. One that fails does not keep the others from being made.
func makeIncidents(ctx context.Context, o *options) error {
	ctx, stop := context.WithTimeout(ctx, allFor)
	defer stop()
	parent, err := os.MkdirTemp("", "bench-record-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parent)
	clients, gone, err := newWorld()
	if err != nil {
		return err
	}
	defer gone()
	all, end, missing, err := startAll(o, parent)
	defer end()
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(o.out, answersFolder)), wait(ctx, o.warm)); err != nil {
		return err
	}
	for _, in := range incidents {
		if !o.incidents.MatchString(in.name) {
			continue
		}
		e := event{Title: in.title, Missing: map[string]string{}}
		dir := filepath.Join(o.out, answersFolder, in.name)
		if err := in.happen(ctx, o, clients, &e); err != nil {
			e.Failed = err.Error()
		} else {
			for tool, why := range missing {
				e.Missing[tool] = why
			}
			for _, one := range all {
				if err := one.answer(ctx, o, dir, &e); err != nil {
					e.Missing[one.tool] = err.Error()
				}
			}
		}
		if err := benchhost.WriteJSON(filepath.Join(dir, "incident.json"), &e); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "benchrecord: %s: %s; asked until %s; not asked: %d %s\n", in.name, clock(e.During.From), clock(time.Now()), len(e.Missing), e.Failed)
	}
	return nil
}

// startAll starts every recorder that is here, and says which are not.
func startAll(o *options, parent string) (all []*running, end func(), missing map[string]string, err error) {
	missing = map[string]string{}
	end = func() {
		for _, one := range all {
			_ = one.end() // what is left ends with this process
		}
	}
	for _, m := range finest(o) {
		r := m("")
		if why := lacking(r); why != "" {
			missing[r.tool] = why
			continue
		}
		if !o.recorders.MatchString(r.name) {
			missing[r.tool] = "left out by -only"
			continue
		}
		one, err := start(m, parent)
		if err != nil {
			return all, end, missing, err
		}
		all = append(all, one)
	}
	return all, end, missing, nil
}

// happen makes one: a service that is well for a while, then its fault.
func (in incident) happen(ctx context.Context, o *options, clients string, e *event) (err error) {
	for _, t := range in.needs {
		if !t.Installed() {
			return fmt.Errorf("it needs the command %s: apt-get install %s", t.Command, t.Package)
		}
	}
	s, err := lab.NewStage(ctx, lab.Options{Self: o.lab, Snag: o.snag})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(), wait(ctx, restFor)) }()
	fault := in.well(s, clients, o.lab)
	if err := errors.Join(s.Err(), wait(ctx, healthyFor)); err != nil {
		return err
	}
	began := time.Now()
	e.Before = span{began.Add(-beforeFor), began.Add(-beforeGap)}
	fault()
	if err := errors.Join(s.Err(), wait(ctx, o.during)); err != nil {
		return err
	}
	e.During = span{began.Add(duringGap), time.Now()}
	return nil
}

// answer keeps what one recorder prints about both times.
func (r *running) answer(ctx context.Context, o *options, dir string, e *event) error {
	ctx, stop := context.WithTimeout(ctx, askFor)
	defer stop()
	for name, s := range map[string]span{"before": e.Before, "during": e.During} {
		text, err := ask(ctx, o, r, s)
		if err := errors.Join(err, r.alive()); err != nil {
			return err
		}
		if err := writeText(filepath.Join(dir, r.tool+"."+name+".gz"), text); err != nil {
			return err
		}
	}
	return nil
}

func clock(t time.Time) string { return t.Format(time.TimeOnly) }
