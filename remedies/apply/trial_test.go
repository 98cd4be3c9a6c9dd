package apply

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/remedies/knob"
	"snag/remedies/plan"
)

func switches() []Switch {
	sysctl := func(name string) plan.Target { return plan.Target{Kind: "sysctl", Name: name} }
	return []Switch{
		{ID: "1", Target: sysctl(rmem), On: "8388608", Off: "212992"},
		{ID: "2", Target: sysctl(budget), On: "300", Off: "600", With: []string{"3"}}, // on already
		{ID: "3", Target: sysctl(usecs), On: "8000", Off: "4000"},                     // neither
	}
}

func trial(t testing.TB, s *Store, within time.Duration) *Trial {
	t.Helper()
	tr, err := s.Try(switches(), within)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func everything(string) bool { return true }

func TestATrialSwitchesAndPutsAllBack(t *testing.T) {
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	tr := trial(t, s, time.Minute)
	asBefore(t, s) // nothing is changed by its beginning
	for range 3 {
		for on := range 8 {
			if err := tr.Set(func(id string) bool { return on>>(id[0]-'1')&1 == 1 }); err != nil {
				t.Fatal(err)
			}
			for i, w := range switches() {
				want := w.Off
				if on>>i&1 == 1 {
					want = w.On
				}
				if got := value(t, s, w.Target.Name); got != want {
					t.Errorf("%s is %s, want %s", w.Target, got, want)
				}
			}
		}
	}
	if _, err := s.Confirm(""); err == nil {
		t.Error("a trial was confirmed")
	}
	if _, err := s.Apply(aPlan(), time.Minute, nil); err == nil {
		t.Error("a plan was carried out beside a trial")
	}
	if _, err := s.Try(switches(), time.Minute); err == nil {
		t.Error("a second trial beside the first")
	}
	e, err := tr.End("done")
	if err != nil || e.State.Phase != Undone || e.State.Why != "done" {
		t.Errorf("%v %+v", err, e.State)
	}
	asBefore(t, s)
	if err := tr.Set(everything); !errors.Is(err, ErrTrialOver) {
		t.Errorf("switched after its end: %v", err)
	}
	asBefore(t, s)
}

func TestATrialStopsWhereAnotherSets(t *testing.T) {
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	tr := trial(t, s, time.Minute)
	if err := tr.Set(everything); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "proc/sys/net/core/rmem_max"), []byte("4711\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := tr.Set(everything); err == nil || !strings.Contains(err.Error(), `another has set sysctl net.core.rmem_max to "4711"`) {
		t.Error(err)
	}
	if _, err := tr.End("stopped"); err == nil || !strings.Contains(err.Error(), "4711") {
		t.Errorf("what another set is not said at the end: %v", err)
	}
	asBefore(t, s, rmem)
}

func TestWhatIsNoTrial(t *testing.T) {
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	for name, c := range map[string]struct {
		w    Switch
		want string
	}{
		"the same twice":  {Switch{ID: "1", Target: plan.Target{Kind: "sysctl", Name: rmem}, On: "5000", Off: " 5000"}, "on and off"},
		"out of range":    {Switch{ID: "1", Target: plan.Target{Kind: "sysctl", Name: rmem}, On: "212992", Off: "1"}, "2304 to"},
		"an unknown kind": {Switch{ID: "1", Target: plan.Target{Kind: "file", Name: "x"}, On: "1", Off: "2"}, `no "file"`},
		"not on the list": {Switch{ID: "1", Target: plan.Target{Kind: "sysctl", Name: "kernel.core_pattern"}, On: "1", Off: "2"}, ""},
	} {
		if err := s.Triable(c.w); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := s.Try([]Switch{c.w}, time.Minute); err == nil {
			t.Errorf("%s: tried", name)
		}
	}
	if all, err := s.All(); err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
}

// The guard puts all back when the time is over, though the trial's process lives and
// may hang.
func TestTheGuardEndsATrialInTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	tr := trial(t, s, 5*time.Second)
	if err := tr.Set(everything); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := s.Guard(context.Background(), tr.ID(), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if time.Since(began) < 3*time.Second {
		t.Error("it did not wait: the trial lives")
	}
	asBefore(t, s)
	if err := tr.Set(everything); !errors.Is(err, ErrTrialOver) {
		t.Errorf("switched after the deadline: %v", err)
	}
	if _, err := tr.End("done"); err != nil {
		t.Error(err)
	}
	asBefore(t, s)
}

// After kill -9 of the trial's process the guard sees at once that it is gone.
func TestATrialThatIsKilled(t *testing.T) {
	if dir := os.Getenv("SNAG_TEST_TRIAL_IN"); dir != "" {
		tr := trial(t, store(dir), time.Hour)
		if err := tr.Set(everything); err != nil {
			t.Fatal(err)
		}
		kill()
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	host(t, dir)
	cmd := exec.Command(self, "-test.run", "^TestATrialThatIsKilled$")
	cmd.Env = append(os.Environ(), "SNAG_TEST_TRIAL_IN="+dir)
	if err := cmd.Run(); err == nil {
		t.Fatal("it was not killed")
	}
	s := store(dir)
	if got, err := (knob.Kinds["sysctl"]).Read(s.Host, plan.Target{Kind: "sysctl", Name: rmem}); err != nil || got != "8388608" {
		t.Fatalf("%s, %v: it was to be killed with the settings on", got, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Guard(ctx, "", io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	e, err := s.Find("")
	if err != nil || e.State.Phase != Undone || !strings.Contains(e.State.Why, "has ended") {
		t.Errorf("%v %+v", err, e.State)
	}
	asBefore(t, s)
}

// Where the guard was killed with it, the next command of tune undoes the trial.
func TestATrialKilledWithItsGuard(t *testing.T) {
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	tr := trial(t, s, time.Hour)
	if err := tr.Set(everything); err != nil {
		t.Fatal(err)
	}
	if all := s.UndoOverdue(); len(all) != 0 {
		t.Errorf("a trial that lives was undone: %+v", all)
	}
	tr.letGo() // as its process' death does
	all := s.UndoOverdue()
	if len(all) != 1 || all[0].Err != nil || !strings.Contains(all[0].State.Why, "has ended") {
		t.Errorf("%+v", all)
	}
	asBefore(t, s)
}
