package main

import (
	"encoding/json"
	"fmt"
	"os"

	"snag/internal/cli"
	"snag/lab"
)

// choice is which incidents to run.
type choice struct {
	only     []string // these, whatever they are; none: by what they are
	long, vm bool     // also those
}

func (c choice) of(list []lab.Incident) (out []lab.Incident, err error) {
	for _, n := range c.only {
		inc, err := lab.Find(list, n)
		if err != nil {
			return nil, cli.Usage("%v", err)
		}
		out = append(out, inc)
	}
	if len(c.only) > 0 {
		return out, nil
	}
	for _, inc := range list {
		if (c.long || !inc.Long) && (c.vm || inc.VM == nil) {
			out = append(out, inc)
		}
	}
	return out, nil
}

// resultFile keeps results as JSON lines, so that those of a run that was cut off
// are there up to that point. Nil keeps none.
type resultFile struct{ f *os.File }

func keepResults(path string) (*resultFile, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("keep the results: %w", err)
	}
	return &resultFile{f}, nil
}

func (k *resultFile) add(r lab.Result) error { return k.write(r.Incident, r) }

// write adds the result of an incident as a line of JSON.
func (k *resultFile) write(incident string, r any) error {
	if k == nil {
		return nil
	}
	if err := json.NewEncoder(k.f).Encode(r); err != nil {
		return fmt.Errorf("keep the result of %s: %w", incident, err)
	}
	return nil
}

// Close closes the file.
func (k *resultFile) Close() error {
	if k == nil {
		return nil
	}
	return k.f.Close()
}
