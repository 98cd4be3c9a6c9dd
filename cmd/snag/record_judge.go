package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"snag/internal/cli"
	"snag/recorder"
	"snag/recording"
)

// judgePast runs snag find --from in a process of its own: its memory is freed when it ends, and a crash
// does not end the recorder.
func judgePast(ctx context.Context, ring string, from, to recording.Time, out string) (recorder.Finding, error) {
	self, err := os.Executable()
	if err != nil {
		return recorder.Finding{}, err
	}
	at := func(t recording.Time) string { return t.Wall().Format(time.RFC3339Nano) }
	cmd := exec.CommandContext(ctx, self, "find", "--from", at(from), "--to", at(to), "--ring", ring, "--out", out, "--json")
	var said, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &wrong
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && (ended.ExitCode() == cli.ExitCulprit || ended.ExitCode() == cli.ExitCantTell) {
		err = nil
	}
	if err != nil {
		return recorder.Finding{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(wrong.String()))
	}
	return findingOf(said.Bytes())
}

// hurts lists the standings with affected clients or streams (docs/json.md).
var hurts = []string{"culprit", "unproved"}

// findingOf reads the JSON document of a verdict.
func findingOf(document []byte) (recorder.Finding, error) {
	type row struct {
		Suspect, Name, State, Subject, Text string
		Elsewhere                           bool
	}
	var v struct {
		Standing string
		Verdict  []row
		Symptoms []row
	}
	if err := json.Unmarshal(document, &v); err != nil {
		return recorder.Finding{}, fmt.Errorf("read the verdict: %w", err)
	}
	f := recorder.Finding{Standing: v.Standing, Hurt: slices.Contains(hurts, v.Standing)}
	for _, r := range v.Verdict {
		if r.State == "culprit" && !r.Elsewhere {
			f.Culprits = append(f.Culprits, recorder.Named{Name: r.Suspect, Subject: r.Subject, Text: r.Text})
		}
	}
	for _, r := range v.Symptoms {
		if !r.Elsewhere {
			f.Symptoms = append(f.Symptoms, recorder.Named{Name: r.Name, Subject: r.Subject, Text: r.Text})
		}
	}
	return f, nil
}
