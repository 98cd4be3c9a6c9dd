package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"snag/probes/probe"
	"snag/recording"
)

// Control groups come and go by the thousand: nothing of one that has gone is kept, and what it was
// throttled for has an end.
func TestGroupsThatHaveGoneAreForgotten(t *testing.T) {
	files := nginx("S")
	p, env, sink := copied(t, files)
	p.tick(0, false)
	c := p.cgroups
	kept := len(c.seen)
	for i := range 20 {
		path := fmt.Sprintf("/job%d", i)
		dir := filepath.Join(env.Sys, "fs/cgroup", path)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		stat := func(throttled int) {
			text := fmt.Sprintf("usage_usec 5\nnr_periods 9\nnr_throttled %d\nthrottled_usec %d\n", throttled, 1000*throttled)
			if err := os.WriteFile(filepath.Join(dir, "cpu.stat"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		groups := p.processes.groups()
		g := group{Version: 2, Path: path}
		groups[g] = true
		stat(1)
		c.measure(groups, true)
		stat(5)
		c.measure(groups, true)
		c.fact(1, path, recording.Fact{Name: "cgroup.memory.high", Value: path})
		if c.seen[g] == nil {
			t.Fatalf("%s was not measured", path)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		c.measure(p.processes.groups(), true)
		c.resources(nil, true)
	}
	if len(c.seen) != kept || len(c.told) != 0 {
		t.Errorf("%d groups are known of %d that are there, and facts of %d", len(c.seen), kept, len(c.told))
	}
	ended := 0
	for _, e := range sink.Recording().Events {
		if e.Kind == recording.EventThrottled && e.End != 0 {
			ended++
		}
	}
	if ended != 20 {
		t.Errorf("%d of 20 groups have an interval in which they were throttled", ended)
	}
}

// Each piece of a ring has the limits of the groups that there are.
func TestLimitsAreWrittenAgainInEachPiece(t *testing.T) {
	p, env, sink := copied(t, nginx("S"))
	env.Round = &probe.Rotation{}
	for range 3 {
		p.tick(0, false)
	}
	before := len(sink.Recording().Cgroups)
	env.Round.Rotate()
	p.tick(0, false)
	all := sink.Recording().Cgroups
	if len(all) != before+1 || before != 1 || all[1].Path != all[0].Path || all[1].Quota != all[0].Quota || all[1].T <= all[0].T {
		t.Errorf("%d rows before, then %+v", before, all)
	}
}

// ip netns exec mounts a /sys of its own, without the control groups, over the one that has them: those of process 1
// are taken, where its paths mean the same.
func TestGroupsBehindAnotherSys(t *testing.T) {
	for _, same := range []bool{true, false} {
		_, env, _ := copied(t, nginx("S"))
		first := filepath.Join(env.Proc, "1")
		for _, dir := range []string{"1/ns", "1/root/sys/fs", "self/ns"} {
			if err := os.MkdirAll(filepath.Join(env.Proc, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(filepath.Join(env.Sys, "fs/cgroup"), filepath.Join(first, "root/sys/fs/cgroup")); err != nil {
			t.Fatal(err)
		}
		own := "cgroup:[7]"
		if !same {
			own = "cgroup:[8]"
		}
		if err := errors.Join(os.Symlink("cgroup:[7]", filepath.Join(first, "ns/cgroup")), os.Symlink(own, filepath.Join(env.Proc, "self/ns/cgroup"))); err != nil {
			t.Fatal(err)
		}
		c := newCgroups(env, nil, nil)
		if found := len(c.roots) > 0; found != same {
			t.Errorf("the same namespace: %t; groups found: %t (%v)", same, found, c.roots)
		}
	}
}
