package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"snag/lab"
)

// span is a time that a recorder is asked about.
type span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// incidentResult is one incident and what each recorder has of it.
type incidentResult struct {
	Name    string            `json:"name"`
	Title   string            `json:"title"`
	Guilty  string            `json:"guilty"`
	Before  span              `json:"before"`
	During  span              `json:"during"`
	Answers map[string]score  `json:"answers"`
	Missing map[string]string `json:"missing,omitempty"`
}

// A recorder is asked about the healthy time until a second before the fault, and about
// the incident from some seconds after it on: a script that waits, or a release that
// starts, takes that long.
const (
	beforeFor = 20 * time.Second
	beforeGap = time.Second
	duringGap = 3 * time.Second
	restFor   = 30 * time.Second
)

// incidents makes them one after the other while all recorders run side by side, and asks
// each recorder afterwards.
func (r *report) incidents(ctx context.Context, o *options) error {
	parent, err := os.MkdirTemp("", "bench-record-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parent)
	w, gone, err := newWorld(o)
	if err != nil {
		return err
	}
	defer gone()
	var all []*running
	defer func() {
		for _, one := range all {
			_ = one.end()
		}
	}()
	for _, m := range finest(o) {
		if name := m("").name; !o.only.MatchString(name) || lacking(m("")) != "" {
			continue
		}
		one, err := start(m, parent)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	if err := wait(ctx, o.warm); err != nil {
		return err
	}
	for _, in := range incidents {
		if !o.incidents.MatchString(in.name) {
			continue
		}
		res, err := in.happen(ctx, o, w)
		if err != nil {
			return fmt.Errorf("incident %s: %w", in.name, err)
		}
		fmt.Fprintf(os.Stderr, "benchrecord: incident %s from %s to %s\n", in.name, clock(res.During.From), clock(res.During.To))
		r.Incidents = append(r.Incidents, res)
	}
	for i := range r.Incidents {
		r.Incidents[i].ask(ctx, o, all)
	}
	return nil
}

// happen makes one: a service that is well for a while, then its fault.
func (in incident) happen(ctx context.Context, o *options, w world) (res incidentResult, err error) {
	for _, t := range in.needs {
		if !t.Installed() {
			return res, fmt.Errorf("it needs the command %s: apt-get install %s", t.Command, t.Package)
		}
	}
	s, err := lab.NewStage(ctx, lab.Options{Self: o.lab, Snag: o.snag})
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, s.Close(), wait(ctx, restFor)) }()
	fault := in.well(s, w)
	if err := errors.Join(s.Err(), wait(ctx, healthyFor)); err != nil {
		return res, err
	}
	began := time.Now()
	res = incidentResult{Name: in.name, Title: in.title, Guilty: in.guilty, Answers: map[string]score{}, Missing: map[string]string{}}
	res.Before = span{began.Add(-beforeFor), began.Add(-beforeGap)}
	fault()
	if err := errors.Join(s.Err(), wait(ctx, o.during)); err != nil {
		return res, err
	}
	res.During = span{began.Add(duringGap), time.Now()}
	return res, nil
}

// ask scores what every recorder has.
func (res *incidentResult) ask(ctx context.Context, o *options, all []*running) {
	for _, in := range incidents {
		if in.name != res.Name {
			continue
		}
		for _, one := range all {
			a, err := askers[one.tool](ctx, o, one, res.Before, res.During)
			if err == nil {
				err = one.alive()
			}
			if err != nil {
				res.Missing[one.tool] = err.Error()
				fmt.Fprintf(os.Stderr, "benchrecord: %s on %s: %v\n", one.tool, in.name, err)
				continue
			}
			res.Answers[one.tool] = in.score(a)
		}
	}
}

func clock(t time.Time) string { return t.Format("15:04:05") }
