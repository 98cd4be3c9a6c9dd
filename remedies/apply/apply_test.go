package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/remedies/journal"
	"snag/remedies/knob"
	"snag/remedies/plan"
)

// Settings of the tests are files in folders of their own.
const (
	rmem    = "net.core.rmem_max"
	budget  = "net.core.netdev_budget"
	usecs   = "net.core.netdev_budget_usecs"
	backlog = "net.core.somaxconn"
)

var before = map[string]string{rmem: "212992", budget: "300", usecs: "2000", backlog: "4096"}

func host(t testing.TB, dir string) knob.Host {
	t.Helper()
	for name, v := range before {
		path := filepath.Join(dir, "proc/sys", strings.ReplaceAll(name, ".", "/"))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(v+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return hostAt(dir)
}

func hostAt(dir string) knob.Host {
	return knob.Host{Proc: filepath.Join(dir, "proc"), Sys: filepath.Join(dir, "sys"), In: func(_ string, f func() error) error { return f() }}
}

func store(dir string) *Store {
	return &Store{Dir: filepath.Join(dir, "state"), Host: hostAt(dir), Kinds: knob.Kinds, Boot: "boot-1",
		Arm: func(string, time.Time) (string, error) { return "nobody, a test", nil }}
}

func aPlan() *plan.Plan {
	p := &plan.Plan{Version: plan.Version}
	for i, c := range []struct{ name, then string }{{rmem, "8388608"}, {budget, "600"}, {backlog, "16384"}, {usecs, "8000"}} {
		p.Changes = append(p.Changes, plan.Change{ID: strconv.Itoa(i + 1), Target: plan.Target{Kind: "sysctl", Name: c.name}, Now: before[c.name], Then: c.then, Why: "a test"})
	}
	p.Changes[1].With = []string{"4"}
	return p
}

func value(t testing.TB, s *Store, name string) string {
	t.Helper()
	v, err := knob.Kinds["sysctl"].Read(s.Host, plan.Target{Kind: "sysctl", Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func asBefore(t testing.TB, s *Store, but ...string) {
	t.Helper()
	for name, v := range before {
		if got := value(t, s, name); got != v && !strings.Contains(strings.Join(but, " "), name) {
			t.Errorf("%s is %s, and was %s before", name, got, v)
		}
	}
}

func TestConfirmedChangesStayAndUndoTakesThemBack(t *testing.T) {
	dir := t.TempDir()
	s := store(dir)
	host(t, dir)
	var order []string
	e, err := s.Apply(aPlan(), time.Minute, func(c Change) { order = append(order, c.ID) })
	if err != nil || e.State.Phase != Unconfirmed {
		t.Fatalf("%v, phase %s", err, e.State.Phase)
	}
	if got := strings.Join(order, " "); got != "1 2 4 3" { // 2 and 4 only hold together
		t.Errorf("made in the order %s", got)
	}
	if _, err := s.Apply(aPlan(), time.Minute, nil); err == nil || !strings.Contains(err.Error(), "not confirmed yet") {
		t.Errorf("a second plan beside one that is not confirmed: %v", err)
	}
	if _, err := s.Confirm(""); err != nil {
		t.Fatal(err)
	}
	if got := value(t, s, rmem); got != "8388608" {
		t.Errorf("rmem_max is %s after confirm", got)
	}
	if _, err := s.Confirm(""); err == nil {
		t.Error("confirmed twice")
	}
	if e, err = s.Undo("", "asked for"); err != nil || e.State.Phase != Undone {
		t.Fatalf("%v, phase %s", err, e.State.Phase)
	}
	asBefore(t, s)
	if _, err := s.Undo("", "asked for"); err == nil {
		t.Error("undone twice")
	}
}

func TestWhatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*plan.Plan)
		want   string
	}{
		"a value that changed since": {func(p *plan.Plan) { p.Changes[2].Now = "128" }, `is "4096" now, and was "128" when the plan was made`},
		"another file":               {func(p *plan.Plan) { p.Changes[0].Target.Name = "kernel/../../etc/passwd" }, "is not one that snag sets"},
		"a value out of range":       {func(p *plan.Plan) { p.Changes[0].Then = "-5" }, "is 2304 to 2147483647 (bytes), not -5"},
		"an unknown kind":            {func(p *plan.Plan) { p.Changes[0].Target.Kind = "file" }, `snag changes no "file"`},
		"the same twice":             {func(p *plan.Plan) { p.Changes[2].Target = p.Changes[0].Target }, "set the same"},
		"nothing":                    {func(p *plan.Plan) { p.Changes = nil }, "no change that snag could make"},
		"a namespace with a path":    {func(p *plan.Plan) { p.Changes[2].Target.Netns = "../x" }, "is not a name of a namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := store(dir)
			host(t, dir)
			p := aPlan()
			c.change(p)
			if _, err := s.Apply(p, time.Minute, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			asBefore(t, s)
		})
	}
}

// failing is a journal that fails from its nth record on, as a full disk does.
type failing struct {
	log
	left *int
}

var errFull = errors.New("no space left on device")

func (f failing) Append(r journal.Record) error {
	if *f.left--; *f.left < 0 {
		return errFull
	}
	return f.log.Append(r)
}

func TestADiskThatIsFullAtAnyRecord(t *testing.T) {
	for n := range 14 {
		dir := t.TempDir()
		host(t, dir)
		s := store(dir)
		left := n
		s.wrap = func(j *journal.Journal) log { return failing{j, &left} }
		_, err := s.Apply(aPlan(), time.Minute, nil)
		if left >= 0 { // the whole plan needs fewer records
			if err != nil || n < 11 {
				t.Errorf("%d records: %v", n, err)
			}
			continue
		}
		if !errors.Is(err, errFull) {
			t.Errorf("full at record %d: %v", n, err)
		}
		s.wrap = nil // there is room again
		e, err := s.Find("")
		if err != nil && n == 0 { // it did not even begin
			asBefore(t, s)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.State.Phase != Undone {
			if _, err := s.Undo("", "room again"); err != nil {
				t.Errorf("full at record %d: %v", n, err)
			}
		}
		asBefore(t, s)
	}
}

func TestAWriteThatIsRefusedHalfWay(t *testing.T) {
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	s.Kinds = map[string]knob.Knob{"sysctl": refusing{knob.Kinds["sysctl"], backlog, errors.New("invalid argument")}}
	e, err := s.Apply(aPlan(), time.Minute, nil)
	if err == nil || !strings.Contains(err.Error(), "invalid argument") || !strings.Contains(err.Error(), "is undone") {
		t.Error(err)
	}
	if e.State.Phase != Undone {
		t.Errorf("phase %s", e.State.Phase)
	}
	asBefore(t, s)
}

// refusing is a kernel that does not take one setting.
type refusing struct {
	knob.Knob
	name string
	err  error
}

func (r refusing) Write(h knob.Host, t plan.Target, v string) error {
	if t.Name == r.name {
		return r.err
	}
	return r.Knob.Write(h, t, v)
}

func TestUndoLeavesWhatAnotherChangedAndSaysSo(t *testing.T) {
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	if _, err := s.Apply(aPlan(), time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "proc/sys/net/core/rmem_max")
	if err := os.WriteFile(other, []byte("999999\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "proc/sys/net/core/somaxconn")); err != nil {
		t.Fatal(err)
	}
	e, err := s.Undo("", "asked for")
	if err == nil || !strings.Contains(err.Error(), `another has set sysctl net.core.rmem_max to "999999" since`) || !errors.Is(err, knob.ErrAbsent) {
		t.Error(err)
	}
	if len(e.State.Problems()) != 2 || e.State.Phase != HalfUndone {
		t.Errorf("%+v", e.State)
	}
	if got := value(t, s, budget); got != "300" {
		t.Errorf("the others are not undone: %s", got)
	}
}

// A service that was restarted has lost the limit of its old process: that is undone, and
// the next plan is free.
func TestWhatEndedWithItsProcess(t *testing.T) {
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	defer stop()
	s.Host.Proc = "/proc"
	started, err := knob.Started("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	target := plan.Target{Kind: "nofile", PID: cmd.Process.Pid, Started: started}
	now, err := knob.Kinds["nofile"].Read(s.Host, target)
	if err != nil {
		t.Fatal(err)
	}
	_, hard, _ := strings.Cut(now, ":")
	p := aPlan()
	p.Changes = []plan.Change{{ID: "1", Target: target, Now: now, Then: "123:" + hard, Why: "a test"}}
	if _, err := s.Apply(p, time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	stop()
	e, err := s.Undo("", "asked for")
	if err != nil || e.State.Phase != Undone || len(e.State.Ended()) != 1 || !strings.Contains(e.State.Ended()[0].Ended, "it ended") {
		t.Errorf("%+v, %v", e.State, err)
	}
	if err := s.free(); err != nil {
		t.Error(err)
	}
}

func TestARebootTookTheChangesBack(t *testing.T) {
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	if _, err := s.Apply(aPlan(), time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	host(t, dir) // the kernel's own values again
	s.Boot = "boot-2"
	if err := os.WriteFile(filepath.Join(dir, "proc/sys/net/core/rmem_max"), []byte("8388608"), 0o644); err != nil {
		t.Fatal(err) // by the distribution's own sysctl.conf, meanwhile
	}
	if _, err := s.Confirm(""); err == nil || !strings.Contains(err.Error(), "booted since") {
		t.Error(err)
	}
	if _, err := s.Undo("", "asked for"); err != nil {
		t.Fatal(err)
	}
	if got := value(t, s, rmem); got != "8388608" {
		t.Errorf("undo after a reboot wrote %s", got)
	}
}

func TestTheGuardUndoesWhatNobodyConfirms(t *testing.T) {
	t.Parallel() // it waits
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	if _, err := s.Apply(aPlan(), 5*time.Second, nil); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := s.Guard(context.Background(), "", io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if time.Since(began) < 3*time.Second {
		t.Error("it did not wait")
	}
	e, err := s.Find("")
	if err != nil || e.State.Phase != Undone || !strings.Contains(e.State.Why, "it was not confirmed") {
		t.Errorf("%v %+v", err, e.State)
	}
	asBefore(t, s)
}

func TestAGuardThatIsToldToEndUndoesFirst(t *testing.T) {
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	if _, err := s.Apply(aPlan(), time.Hour, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Guard(ctx, "", io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	asBefore(t, s)
}

// A process is killed by SIGKILL when it is about to write its nth record, and just
// after; what it leaves behind is undone by another.
func TestKilledAtEachRecord(t *testing.T) {
	if dir := os.Getenv("SNAG_TEST_KILLED_IN"); dir != "" {
		at, _ := strconv.Atoi(os.Getenv("SNAG_TEST_KILLED_AT"))
		dieAt(dir, at)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for at := range 24 {
		dir := t.TempDir()
		host(t, dir)
		cmd := exec.Command(self, "-test.run", "^TestKilledAtEachRecord$")
		cmd.Env = append(os.Environ(), "SNAG_TEST_KILLED_IN="+dir, fmt.Sprintf("SNAG_TEST_KILLED_AT=%d", at))
		if err := cmd.Run(); err != nil {
			killed++
		}
		s := store(dir)
		e, err := s.Find("")
		if err != nil { // it was killed before anything was on disk
			asBefore(t, s)
			continue
		}
		if e.State.Phase != Undone {
			if _, err := s.Undo("", "after the kill"); err != nil {
				t.Errorf("killed at %d: %v", at, err)
			}
		}
		asBefore(t, s)
		if left, err := s.Find(""); err != nil || left.State.Open() {
			t.Errorf("killed at %d: %v, phase %s", at, err, left.State.Phase)
		}
	}
	if killed < 20 {
		t.Errorf("only %d were killed", killed)
	}
}

// dying kills its own process before (even numbers) or after a record.
type dying struct {
	log
	n  *int
	at int
}

func (d dying) Append(r journal.Record) error {
	if *d.n == d.at {
		kill()
	}
	*d.n++
	err := d.log.Append(r)
	if *d.n == d.at {
		kill()
	}
	*d.n++
	return err
}

func dieAt(dir string, at int) {
	s := store(dir)
	n := 0
	s.wrap = func(j *journal.Journal) log { return dying{j, &n, at} }
	_, _ = s.Apply(aPlan(), time.Minute, nil)
}
