package compare

import (
	"math"
	"slices"
	"testing"
	"time"

	"snag/recording"
)

// Workers that are killed again and again are worse, though answers are as fast; workers that end when
// they are asked to are not.
func TestKilledWorkers(t *testing.T) {
	of := func(name string) *recording.Recording {
		r, err := recording.Open("../lab/recordings/service-killed-" + name + ".snag")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const killed = "ends of shop-worker by SIGKILL"
	if c := Of(of("healthy"), of("sick")); c.Outcome() != Worse || !worse(c, killed) {
		t.Errorf("sick: %s, %v", c.Outcome(), c.Amounts)
	}
	if c := Of(of("healthy"), of("distractor")); c.Outcome() != AsGood {
		t.Errorf("asked to end: %s, %v", c.Outcome(), c.Amounts)
	}
	if c := Of(of("sick"), of("healthy")); c.Outcome() != AsGood {
		t.Errorf("killed no more: %s, %v", c.Outcome(), c.Amounts)
	}
	b := of("sick")
	for i, c := range b.Coverage {
		if c.Probe == "ends" {
			b.Coverage[i].State = recording.CoverageUnavailable
		}
	}
	if c := Of(of("healthy"), b); worse(c, killed) || !slices.Contains(c.OneSided, "ends of processes (not measured in B)") {
		t.Errorf("not measured in B: %v %v", c.Amounts, c.OneSided)
	}
}

// A service that is started again and again is worse, also where each ends by itself; the end of its
// workers, of what it forks for each connection, and of the last one is no restart.
func TestRestarts(t *testing.T) {
	r, err := recording.Open(steady)
	if err != nil {
		t.Fatal(err)
	}
	cut := func(at time.Duration) *recording.Recording {
		from := r.Manifest.Start.Add(at)
		return r.Cut(from, from.Add(pairLength))
	}
	const at, what = "10.0.0.1:99", "restarts of shop 10.0.0.1:99"
	again := func(ppid int) *recording.Recording {
		b := cut(time.Minute)
		b.Sockets, b.Exits = slices.Clone(b.Sockets), slices.Clone(b.Exits)
		for i := range 20 {
			begun := b.Manifest.Start.Add(time.Duration(2*i) * time.Second)
			own := recording.FDRef{PID: 9000 + i, Comm: "shop"}
			if ppid == 900 {
				own.PID = 900
			}
			b.Sockets = append(b.Sockets, recording.Socket{T: begun, Proto: "tcp", State: "LISTEN", Local: at, Owners: []recording.FDRef{own}})
			b.Exits = append(b.Exits, recording.Exit{T: begun.Add(time.Second), PID: 9000 + i, PPID: ppid, Comm: "shop", Status: 1, N: 1})
		}
		return b
	}
	if c := Of(cut(0), again(1)); !worse(c, what) {
		t.Errorf("started again: %v", c.Amounts)
	}
	if c := Of(cut(0), again(900)); worse(c, what) {
		t.Errorf("forked for each connection: %v", c.Amounts)
	}
	one := &served{comm: "shop", main: []int{1}, last: 5}
	for last, want := range map[recording.Time]int{5: 0, 9: 1} {
		one.last = last
		if got := one.restarts([]recording.Exit{{T: 7, PID: 1, N: 1}}); len(got) != want {
			t.Errorf("seen to listen at %d, ended at 7: %v", last, got)
		}
	}
}

// Processes that the kernel killed for want of memory are an amount of their own.
func TestKilledForMemory(t *testing.T) {
	r, err := recording.Open(steady)
	if err != nil {
		t.Fatal(err)
	}
	cut := func(at time.Duration, more float64) *recording.Recording {
		from := r.Manifest.Start.Add(at)
		out := r.Cut(from, from.Add(pairLength))
		s := recording.Series{Name: "node_vmstat_oom_kill"}
		for i := range 40 {
			s.Points = append(s.Points, recording.Point{T: out.Manifest.Start.Add(time.Duration(i) * time.Second), V: 100 + more*float64(i)})
		}
		out.Series = append(slices.DeleteFunc(slices.Clone(out.Series), func(s recording.Series) bool { return s.Name == "node_vmstat_oom_kill" }), s)
		return out
	}
	const what = "processes that the kernel killed for want of memory"
	c := Of(cut(0, 0), cut(time.Minute, 1))
	i := slices.IndexFunc(c.Amounts, func(a Amount) bool { return a.What == what })
	if i < 0 || !c.Amounts[i].Worse() || math.Abs(c.Amounts[i].Change.B-60) > 2 {
		t.Errorf("one per second: %v", c.Amounts)
	}
	if c := Of(cut(0, 1), cut(time.Minute, 1)); worse(c, what) {
		t.Errorf("as many: %v", c.Amounts)
	}
}
