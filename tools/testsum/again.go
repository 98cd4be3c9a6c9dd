package main

import (
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
)

// tryAgain runs what failed once more, and keeps both runs of each.
func (r *results) tryAgain(to io.Writer, run func(test) (string, bool), kept *keeper) {
	if r.died > 0 || len(r.whole) == 0 || len(r.whole) > again {
		for _, t := range r.whole {
			kept.failure(t, "not run again", "")
		}
		return
	}
	for _, t := range r.whole {
		out, passed := run(t)
		outcome := "failed again, alone"
		if passed {
			outcome = passedAlone
			r.flaky++
			fmt.Fprintf(to, "failed once, passed alone: %s %s\n", t.pkg, t.what())
		} else {
			fmt.Fprintf(to, "FAILED TWICE: %s %s\n%s", t.pkg, t.what(), out)
		}
		kept.failure(t, outcome, out)
	}
	if r.flaky == len(r.whole) {
		r.failed = 0
	}
}

// rerun runs a test with nothing beside it.
func rerun(t test) (output string, passed bool) {
	args := []string{"test", "-v", "-vet=off", "-count=1", "-timeout=25m"}
	if t.name != "" {
		args = append(args, "-run=^"+regexp.QuoteMeta(t.name)+"$")
	}
	// The names come from the test run itself, and no shell sees them.
	out, err := exec.Command("go", append(args, t.pkg)...).CombinedOutput() //nolint:gosec
	return string(out), err == nil && strings.Contains(string(out), "--- PASS: "+t.name)
}
