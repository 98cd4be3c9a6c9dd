package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"snag/lab"
)

// said is what was left of a machine.
type said struct {
	dir     string
	results []lab.Result // one for each incident and variant
	untrue  []string     // incidents whose ground truth did not hold, a sentence each
}

// readSaid reads the results. What is missing of them failed: a machine that broke
// down must not look as if there was nothing to run.
func readSaid(b *boot, dir string) (*said, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	got, err := parseResults(raw)
	if err != nil {
		return nil, fmt.Errorf("read the results of %s: %w", b.name(), err)
	}
	s := &said{dir: dir, results: complete(b.list, got)}
	for _, name := range b.names() {
		exit, _ := os.ReadFile(filepath.Join(dir, name+".truth-exit"))
		text, _ := os.ReadFile(filepath.Join(dir, name+".truth"))
		if why := untrue(string(exit), string(text)); why != "" {
			s.untrue = append(s.untrue, name+": "+why)
		}
	}
	return s, nil
}

// parseResults reads JSON lines; a last one without its end is left out.
func parseResults(raw []byte) (out []lab.Result, err error) {
	if end := bytes.LastIndexByte(raw, '\n'); end >= 0 {
		raw = raw[:end]
	} else {
		raw = nil
	}
	lines := json.NewDecoder(bytes.NewReader(raw))
	for {
		var r lab.Result
		err := lines.Decode(&r)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
}

func complete(list []lab.Incident, got []lab.Result) (out []lab.Result) {
	for _, inc := range list {
		for _, v := range lab.Variants {
			i := slices.IndexFunc(got, func(r lab.Result) bool { return r.Incident == inc.Name && r.Variant == v })
			if i < 0 {
				out = append(out, lab.Result{Incident: inc.Name, Variant: v, Outcome: lab.Failed, Why: "the machine ended without a result"})
				continue
			}
			out = append(out, got[i])
		}
	}
	return out
}

// untrue says what was wrong with an incident's test of ground truth: its exit code
// and what it printed. A test that was skipped proves nothing.
func untrue(exit, text string) string {
	switch strings.TrimSpace(exit) {
	case "":
		return "its test of ground truth did not run to its end"
	case "0":
		if strings.Contains(text, "--- SKIP") {
			return "its test of ground truth was skipped: " + strings.TrimSpace(text)
		}
		return ""
	}
	return "its test of ground truth failed: " + strings.TrimSpace(text)
}

// copyRight copies the packed recordings of what was right.
func copyRight(s *said, to string) error {
	for _, r := range s.results {
		if r.Outcome != lab.Right {
			continue
		}
		name := r.Incident + "-" + string(r.Variant) + ".snag"
		raw, err := os.ReadFile(filepath.Join(s.dir, "recordings", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), raw, 0o644)
		}
		if err != nil {
			return fmt.Errorf("keep the recording of %s, %s: %w", r.Incident, r.Variant, err)
		}
	}
	return nil
}
