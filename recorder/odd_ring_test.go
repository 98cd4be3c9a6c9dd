package recorder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// session writes a minute of a recorder that begins at a time by its clock: a fact, a second's count and a sample each
// second.
func session(t *testing.T, dir string, from recording.Time, reason string) {
	t.Helper()
	var c clock
	c.to(from)
	m := manifestOf()
	m.Start = from
	tp, err := newWriter(dir, m, c.now, &probe.Rotation{}, mustNot(t))
	if err != nil {
		t.Fatal(err)
	}
	tp.Append(recording.Fact{T: from, Name: "kernel.release", Value: "6"})
	tp.Append(recording.Coverage{Probe: "drops", State: recording.CoverageOK, Since: from})
	for i := range 60 {
		at := from.Add(time.Duration(i) * time.Second)
		c.to(at)
		tp.Append(recording.Drop{T: at, Reason: reason, N: 1})
		tp.Sample(at, "node_load1", nil, float64(i))
	}
	c.to(from.Add(time.Minute))
	if err := tp.Close(); err != nil {
		t.Fatal(err)
	}
}

// A clock that was set back by half a minute: the pieces before and after that overlap. Both are read, and the times
// are in order.
func TestARingWhoseClockWentBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	session(t, dir, second(0), "before")
	session(t, dir, second(30), "after")
	session(t, dir, second(90), "later")
	all, err := Ring{dir}.Pieces()
	if err != nil || len(all) != 3 || all[1].Start >= all[0].End {
		t.Fatalf("%v, %v", all, err)
	}
	r, err := Ring{dir}.Read(second(0), second(150))
	if err != nil || len(r.Damage) > 0 {
		t.Fatalf("%v, %v", r, err)
	}
	n := map[string]int{}
	last := recording.Time(0)
	for _, d := range r.Drops {
		n[d.Reason]++
		if d.T < last {
			t.Errorf("a row of %s after one of %s", d.T.Wall(), last.Wall())
		}
		last = d.T
	}
	if n["before"] != 60 || n["after"] != 60 || n["later"] != 60 {
		t.Errorf("rows of the three: %v", n)
	}
	last = 0
	points := 0
	for _, s := range r.Select("node_load1") {
		for _, p := range s.Points {
			if p.T < last {
				t.Errorf("a sample of %s after one of %s", p.T.Wall(), last.Wall())
			}
			last = p.T
			points++
		}
	}
	if points < 150 { // one per second, at least
		t.Errorf("%d samples", points)
	}
	if c, measured := r.Measured("drops"); !measured || c.State != recording.CoverageOK {
		t.Errorf("%+v", c)
	}
	// A time that both have, and what is thinned.
	if r, err := (Ring{dir}).Read(second(40), second(50)); err != nil || len(r.Drops) < 20 {
		t.Errorf("ten seconds that came twice: %v", err)
	}
	if err := (Ring{dir}).Thin([]string{all[0].Name, all[1].Name}, 10*time.Second); err != nil {
		t.Error(err)
	}
	if r, err := (Ring{dir}).Read(second(0), second(150)); err != nil || len(r.Damage) > 0 || len(r.Drops) != 180 {
		t.Errorf("thinned: %v", err)
	}
}

// A piece that a later snag wrote is not read, and said so; the others are.
func TestARingOfALaterVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	session(t, dir, second(0), "ours")
	var c clock
	c.to(second(60))
	m := manifestOf()
	m.Start = second(60)
	tp, err := newWriter(dir, m, c.now, &probe.Rotation{}, mustNot(t))
	if err != nil {
		t.Fatal(err)
	}
	tp.Append(recording.Drop{T: second(61), Reason: "theirs", N: 1})
	// It is still open, and stays so.
	file := filepath.Join(dir, tp.current(), "manifest.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	later := strings.Replace(string(b), `"version": 1`, `"version": 99`, 1)
	if later == string(b) {
		t.Fatalf("no version in %s", b)
	}
	if err := os.WriteFile(file, []byte(later), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Ring{dir}.Read(second(0), second(120))
	if err != nil || len(r.Drops) != 60 {
		t.Fatalf("%v, %v", r, err)
	}
	if len(r.Damage) != 1 || !strings.Contains(r.Damage[0], "it is of version 99 and this snag reads up to 1") {
		t.Errorf("%q", r.Damage)
	}
	// Who records with this snag again leaves it where it is.
	if err := salvage(dir, ""); err == nil || !strings.Contains(err.Error(), "it is of version 99") {
		t.Errorf("salvage says %v", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("it was removed: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, nameOf(second(0), second(60), time.Second))); err != nil {
		t.Fatal(err)
	}
	if _, err := (Ring{dir}).Read(second(60), second(120)); err == nil || !strings.Contains(err.Error(), "99") {
		t.Errorf("a ring of later pieces alone: %v", err)
	}
}
