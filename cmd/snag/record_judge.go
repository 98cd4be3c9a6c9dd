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

	"golang.org/x/sys/unix"

	"snag/internal/cli"
	"snag/recorder"
	"snag/recording"
)

// lookFor is how long a closer look takes: as long as the recorder waits before it judges.
const lookFor = 10 * time.Second

// lookNow returns what runs snag find, with its closer look at suspects, in a process of its own. It is
// given no streams: they are read already, and a second viewer of each would be a load of its own. The
// judgement of the ring knows what happened to them.
func lookNow(budget string, own bool) recorder.Look {
	return func(ctx context.Context, ring, out string) (recorder.Finding, error) {
		args := []string{"--for", lookFor.String(), "--quiet", "--budget", budget, "--ring", ring, "--out", out}
		if own {
			args = append(args, "--own-netns")
		}
		return findInChild(ctx, true, args...)
	}
}

// judgePast runs snag find --from in a process of its own: its memory is freed when it ends, and a crash
// does not end the recorder.
func judgePast(ctx context.Context, ring string, from, to recording.Time, known []string, out string) (recorder.Finding, error) {
	at := func(t recording.Time) string { return t.Wall().Format(time.RFC3339Nano) }
	args := []string{"--from", at(from), "--to", at(to), "--ring", ring, "--out", out}
	for _, name := range known {
		args = append(args, "--without-stream="+name)
	}
	return findInChild(ctx, false, args...)
}

// findInChild runs snag find and reads its verdict. The recorder's low priority would make what measures
// the present late.
func findInChild(ctx context.Context, measures bool, args ...string) (recorder.Finding, error) {
	self, err := os.Executable()
	if err != nil {
		return recorder.Finding{}, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"find", "--json"}, args...)...)
	var said, wrong bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &wrong
	if err = cmd.Start(); err == nil {
		if measures {
			_ = unix.Setpriority(unix.PRIO_PROCESS, cmd.Process.Pid, 0) // without the right to: it may be late, and says so
		}
		err = cmd.Wait()
	}
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
		Suspect, Name, State, Subject, Text, Beyond string
		Elsewhere                                   bool
		Harm                                        *struct{ Text string }
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
			one := recorder.Named{Name: r.Suspect, Subject: r.Subject, Text: r.Text, Beyond: r.Beyond}
			if r.Harm != nil {
				one.Harm = r.Harm.Text
			}
			f.Culprits = append(f.Culprits, one)
		}
	}
	for _, r := range v.Symptoms {
		if !r.Elsewhere {
			f.Symptoms = append(f.Symptoms, recorder.Named{Name: r.Name, Subject: r.Subject, Text: r.Text})
		}
	}
	return f, nil
}
