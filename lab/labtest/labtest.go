// Package labtest runs stages inside go test: the test binary stands in for the
// snag-lab binary as janitor and as actors.
package labtest

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/actor"
)

// Main is for TestMain of every package that makes a stage.
func Main(m *testing.M) {
	if ours, err := Reexec(os.Args); ours {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Reexec does the work of the hidden subcommands, if args begin with one.
func Reexec(args []string) (bool, error) {
	if len(args) < 3 {
		return false, nil
	}
	switch args[1] {
	case lab.ActorCommand:
		return true, actor.Run(args[2:])
	case lab.JanitorCommand:
		return true, lab.Janitor(os.Stdin, args[2])
	}
	return false, nil
}

// Stage makes a stage that the test's end closes.
func Stage(t *testing.T) *lab.Stage {
	t.Helper()
	return stage(t, "")
}

func stage(t *testing.T, suffix string) *lab.Stage {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 9*time.Minute)
	s, err := lab.NewStage(ctx, lab.Options{Log: t.Logf, Shared: true, Suffix: suffix})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the stage: %v", err)
		}
		cancel()
	})
	return s
}

// Start starts one variant of an incident on a stage of its own.
func Start(t *testing.T, inc lab.Incident, v lab.Variant) *lab.Stage {
	t.Helper()
	return startOn(t, inc, v, "")
}

func startOn(t *testing.T, inc lab.Incident, v lab.Variant, suffix string) *lab.Stage {
	t.Helper()
	for _, tool := range lab.Missing(inc) {
		t.Skipf("%s (Debian package %s) is not installed", tool.Command, tool.Package)
	}
	s := stage(t, suffix)
	if err := s.Able(inc); err != nil {
		t.Skip(err)
	}
	if err := s.Start(inc, v); err != nil {
		t.Fatal(err)
	}
	return s
}

// Growth is how much a counter of a namespace grows in that time.
func Growth(t *testing.T, s *lab.Stage, ns, proto, field string, d time.Duration) uint64 {
	t.Helper()
	before, err := s.Counter(ns, proto, field)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(d)
	after, err := s.Counter(ns, proto, field)
	if err != nil {
		t.Fatal(err)
	}
	return after - before
}

// Each runs a check on the three variants of an incident, one after another; of a
// long one on the sick variant only: the rest of it is in make lab.
func Each(t *testing.T, inc lab.Incident, check func(*testing.T, *lab.Stage, lab.Variant)) {
	for _, v := range variantsOf(inc) {
		t.Run(string(v), func(t *testing.T) { check(t, Start(t, inc, v), v) })
	}
}

func variantsOf(inc lab.Incident) []lab.Variant {
	if inc.Long {
		return lab.Variants[:1]
	}
	return lab.Variants
}

// Together is Each with the variants at the same time: for incidents that are Apart, and
// for those that are but for where snag find is started.
func Together(t *testing.T, inc lab.Incident, check func(*testing.T, *lab.Stage, lab.Variant)) {
	for _, v := range variantsOf(inc) {
		t.Run(string(v), func(t *testing.T) {
			t.Parallel()
			check(t, startOn(t, inc, v, string(v[:1])), v)
		})
	}
}

// LastNumber is the last number that a process printed in that form.
func LastNumber(t *testing.T, printed, form string) float64 {
	t.Helper()
	all := Numbers(t, printed, form)
	return all[len(all)-1]
}

// Numbers are those that a process printed in that form, at least one.
func Numbers(t *testing.T, printed, form string) []float64 {
	t.Helper()
	var all []float64
	for _, m := range regexp.MustCompile(form).FindAllStringSubmatch(printed, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if all == nil {
		t.Fatalf("nothing like %s in %q", form, printed)
	}
	return all
}
