package verdict_test

import (
	"path/filepath"
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
	"snag/suspects/suspect"
	"snag/verdict"
)

// TestNothingCostlyOnAHealthyHost: where nobody suffers and nobody is suspected, no
// process gets a closer look; it is the healthy twin of every packed incident.
func TestNothingCostlyOnAHealthyHost(t *testing.T) {
	all, err := filepath.Glob("../lab/recordings/*-healthy.snag")
	if err != nil || len(all) < 30 {
		t.Fatalf("%d recordings (%v)", len(all), err)
	}
	if testing.Short() {
		all = all[:10]
	}
	looked := 0
	for _, path := range all {
		r, err := recording.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if looks := verdict.Closer(verdict.Judge(r)); len(looks) > 0 {
			looked++
			t.Logf("%s: %v", filepath.Base(path), looks)
		}
	}
	// A twin may be slow by what it is asked (requests that wait for a machine at its
	// limit): nobody is to blame, and it may be looked at; most hold nothing.
	if looked*10 > len(all) {
		t.Errorf("a closer look at %d of %d healthy hosts", looked, len(all))
	}
}

// TestACloserLookAtWhatIsNotExplained: a sufferer without a culprit, behind its
// socket, the suspected, and snag itself never.
func TestACloserLookAtWhatIsNotExplained(t *testing.T) {
	r, err := recording.Open("../lab/recordings/slow-consumer-sick.snag")
	if err != nil {
		t.Fatal(err)
	}
	v := verdict.Judge(r)
	culprits := v.With(verdict.Culprit)
	if len(culprits) == 0 || len(v.Symptoms) == 0 {
		t.Fatal("the recording has no culprit")
	}
	if looks := verdict.Closer(v); hasWhy(looks, "not explained") {
		t.Errorf("explained, and yet %v", looks)
	}
	blind := *v
	blind.Entries = nil
	looks := verdict.Closer(&blind)
	if !hasWhy(looks, "not explained yet") {
		t.Errorf("nobody explains it, and %v", looks)
	}
	for _, l := range looks {
		if l.PID == 0 || l.PID == r.Manifest.SelfPID || v.Scene.Process(l.PID) == nil {
			t.Errorf("look %v", l)
		}
	}
	owner := v.Scene.Processes[0].Subject
	blind.Symptoms = nil
	blind.Entries = []verdict.Entry{
		{State: verdict.NotSeen, Subject: owner, Suspect: &suspect.Suspect{Name: "a", Needs: []suspect.Need{{Measure: "locks.futex"}}}},
		{State: verdict.NotSeen, Subject: owner, Suspect: &suspect.Suspect{Name: "b", Needs: []suspect.Need{{Measure: "syscalls.calls"}}}},
		{State: verdict.Cleared, Subject: v.Scene.Processes[1].Subject, Suspect: &suspect.Suspect{Name: "c", Needs: []suspect.Need{{Measure: "syscalls.calls"}}}},
	}
	if looks := verdict.Closer(&blind); len(looks) != 1 || looks[0].PID != owner.PID || looks[0].Why != "a suspected" {
		t.Errorf("of two that suspect one process: %v", looks)
	}
}

func hasWhy(looks []verdict.Look, part string) bool {
	for _, l := range looks {
		if strings.Contains(l.Why, part) {
			return true
		}
	}
	return false
}

// Threads that wait at one word while requests are open may wait for a lock: only a closer look shows that.
func TestCloserWhereThreadsWaitAtOneWord(t *testing.T) {
	c, err := rectest.Load("../suspects/testdata/lock-convoy/guilty-semaphore.txtar")
	if err != nil {
		t.Fatal(err)
	}
	r := c.Recording
	r.OffCPU, r.LockWaits = nil, nil
	if looks := verdict.Closer(verdict.Judge(r)); len(looks) != 1 || looks[0].PID != 60 || !strings.Contains(looks[0].Why, "one futex word") {
		t.Errorf("%+v", looks)
	}
	for i := range r.ThreadStates { // each at a word of its own
		r.ThreadStates[i].Futex = uint64(i)
	}
	if looks := verdict.Closer(verdict.Judge(r)); len(looks) != 0 {
		t.Errorf("%+v", looks)
	}
}
