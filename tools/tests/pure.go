package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// runPure runs packages without any capability. Those that are prompt run one at a time. The
// others run one more at a time than there are CPUs, and at the lowest priority: live tests
// beside them wait for no CPU, and snag's decoders, which have that priority too, get their
// share.
func runPure(ctx context.Context, e *events, all []pkg) {
	var soon, late []pkg
	for _, p := range all {
		if prompt[p.ImportPath] != "" {
			soon = append(soon, p)
		} else {
			late = append(late, p)
		}
	}
	var both sync.WaitGroup
	both.Go(func() { runUnprivileged(ctx, e, soon, 1, 0) })
	both.Go(func() { runUnprivileged(ctx, e, late, pureWidth(), 19) })
	both.Wait()
}

// runUnprivileged runs so many at a time, with that niceness.
//
// A test that skips there for the lack of a privilege would never run at all. So what
// skips is run again with all privileges, and fails if it does not skip then.
func runUnprivileged(ctx context.Context, e *events, all []pkg, width, nice int) {
	if len(all) == 0 {
		return
	}
	args := []string{"nice", "-n", strconv.Itoa(nice), "go", "test", "-json", "-vet=off", "-ldflags=-w", "-timeout", "25m", "-p", strconv.Itoa(width)}
	for _, p := range all {
		args = append(args, p.ImportPath)
	}
	root := os.Geteuid() == 0
	if root {
		args = append([]string{"setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--"}, args...)
	}
	skipped := map[string][]string{}
	// testsum takes its exit code from the events.
	_ = e.copy(exec.CommandContext(ctx, args[0], args[1:]...), func(v event) bool {
		if !root || v.Action != "skip" || v.Test == "" {
			return false
		}
		skipped[v.Package] = append(skipped[v.Package], v.Test)
		return true
	})
	for name, tests := range skipped {
		for _, test := range tests {
			e.send(again(ctx, name, test)...)
		}
	}
}

// again is what becomes of a test that skipped without privileges.
func again(ctx context.Context, name, test string) []event {
	top, _, _ := strings.Cut(test, "/")
	//nolint:gosec // the names come from the test run itself, and no shell sees them
	out, _ := exec.CommandContext(ctx, "go", "test", "-v", "-vet=off", "-count=1", "-run=^"+regexp.QuoteMeta(top)+"$", name).CombinedOutput()
	if strings.Contains(string(out), "--- SKIP: "+test+" ") {
		return []event{{Action: "skip", Package: name, Test: test}}
	}
	return []event{
		{Action: "output", Package: name, Test: test, Output: "It skips without privileges and runs with them, and this package runs without: put it into a file called live (docs/check.md).\n"},
		{Action: "fail", Package: name, Test: test},
	}
}
