package apply

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/remedies/journal"
	"snag/remedies/knob"
)

// applied is a host with a plan that was carried out, and its folder.
func applied(t testing.TB) (dir string, s *Store, at string) {
	t.Helper()
	dir = t.TempDir()
	host(t, dir)
	s = store(dir)
	e, err := s.Apply(aPlan(), time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dir, s, e.Dir
}

// attack undoes a plan whose journal is as given, and looks at what it says and did: an
// error, and no setting has a value but that of before or that of the plan.
func attack(t *testing.T, what, dir string, s *Store, at string, text []byte) (restored bool) {
	t.Helper()
	host(t, dir)
	for _, c := range aPlan().Changes {
		if err := knob.Kinds["sysctl"].Write(s.Host, c.Target, c.Then); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(at, journal.Name), text, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := s.Undo("", "asked for")
	if err == nil {
		t.Fatalf("%s: undo says that all is well", what)
	}
	restored = true
	for _, c := range aPlan().Changes {
		switch value(t, s, c.Target.Name) {
		case c.Now:
		case c.Then:
			restored = false
		default:
			t.Fatalf("%s: %s has the wrong value %s", what, c.Target, value(t, s, c.Target.Name))
		}
	}
	if e.State.Phase == Undone && !restored {
		t.Fatalf("%s: it is called undone, and is not: %v", what, err)
	}
	return restored
}

func TestFlippedBitsOfAJournal(t *testing.T) {
	dir, s, at := applied(t)
	text, err := os.ReadFile(filepath.Join(at, journal.Name))
	if err != nil {
		t.Fatal(err)
	}
	used := len(bytes.TrimRight(text, "\n"))
	// Each bit of each old value, and a hundred anywhere.
	var flips []int
	for _, old := range []string{`"old":"212992"`, `"old":"300"`, `"old":"4096"`, `"old":"2000"`} {
		i := bytes.Index(text, []byte(old)) + len(`"old":"`)
		for b := range 8 * (len(old) - len(`"old":""`)) {
			flips = append(flips, 8*i+b)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		flips = append(flips, random.IntN(8*used))
	}
	all, restored := 0, 0
	for _, f := range flips {
		flipped := slices.Clone(text)
		flipped[f/8] ^= 1 << (f % 8)
		all++
		if attack(t, fmt.Sprintf("bit %d of %q", f%8, text[max(0, f/8-10):min(used, f/8+10)]), dir, s, at, flipped) {
			restored++
		}
	}
	t.Logf("%d flips: %d errors, 0 wrong values; all settings restored all the same in %d", all, all, restored)
}

func TestALineIsMissingOrCutOff(t *testing.T) {
	dir, s, at := applied(t)
	text, err := os.ReadFile(filepath.Join(at, journal.Name))
	if err != nil {
		t.Fatal(err)
	}
	used := text[:len(bytes.TrimRight(text, "\n"))+1]
	lines := bytes.SplitAfter(used, []byte{'\n'})
	lines = lines[:len(lines)-1]
	all, restored := 0, 0
	one := func(what string, text []byte) {
		all++
		if attack(t, what, dir, s, at, text) {
			restored++
		}
	}
	for i := range lines {
		one(fmt.Sprintf("line %d is missing", i+1), bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil))
		one(fmt.Sprintf("cut off after line %d", i), bytes.Join(lines[:i], nil))
		for k := range i {
			one(fmt.Sprintf("lines %d to %d are missing", k+1, i+1), bytes.Join(slices.Delete(slices.Clone(lines), k, i+1), nil))
		}
	}
	for cut := 0; cut < len(used)-1; cut += 17 {
		one(fmt.Sprintf("cut off at byte %d", cut), used[:cut])
	}
	t.Logf("%d times: %d errors, 0 wrong values; all settings restored all the same in %d", all, all, restored)
}

// What a damaged journal's undo says, what it leaves behind, and that it is settled.
func TestWhatIsSaidOfADamagedJournal(t *testing.T) {
	_, s, at := applied(t)
	path := filepath.Join(at, journal.Name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"old":"300"`), []byte(`"old":"301"`), 1)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Confirm(""); err == nil || !strings.Contains(err.Error(), "not known for sure") {
		t.Errorf("confirm: %v", err)
	}
	if _, err := s.Apply(aPlan(), time.Minute, nil); err == nil || !strings.Contains(err.Error(), "not known for sure") {
		t.Errorf("apply: %v", err)
	}
	e, err := s.Undo("", "asked for")
	if err == nil || !strings.Contains(err.Error(), "line 6 can't be used: its checksum does not match") || !strings.Contains(err.Error(), "certain: all 4 settings of the plan were looked at and are as before (1 of them by the plan beside") {
		t.Errorf("undo: %v", err)
	}
	if e.State.Phase != Undone || e.Damage == nil {
		t.Errorf("%+v", e)
	}
	asBefore(t, s)
	if err := s.free(); err != nil {
		t.Errorf("the next plan: %v", err)
	}

	// Without the plan beside it, what is lost is not guessed, and the next plan waits.
	_, s, at = applied(t)
	if err := os.WriteFile(filepath.Join(at, journal.Name), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, planFile), []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = s.Undo("", "asked for")
	if err == nil || !strings.Contains(err.Error(), "not certain: which others were changed") {
		t.Errorf("undo: %v", err)
	}
	asBefore(t, s, budget)
	if err := s.free(); err == nil {
		t.Error("another plan may begin, though not all is known")
	}
}

func TestAJournalThatIsGone(t *testing.T) {
	_, s, at := applied(t)
	if err := os.Remove(filepath.Join(at, journal.Name)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo("", "asked for"); err == nil {
		t.Error("undo of a plan without a journal says that all is well")
	}
	if err := s.free(); err == nil {
		t.Error("another plan may begin")
	}
}

// oldStore has a plan that an older snag carried out.
func oldStore(t *testing.T, change func(string) string) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	host(t, dir)
	s := store(dir)
	at := filepath.Join(s.Dir, "20261126-010000.000000")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"at":"2026-11-26T01:00:00Z","step":"begun","boot":"boot-1","deadline":"2099-11-26T01:02:00Z"}` + "\n"
	for _, c := range aPlan().Changes {
		text += fmt.Sprintf(`{"step":"will","change":%q,"target":{"Kind":"sysctl","Name":%q},"old":%q,"new":%q}`+"\n"+`{"step":"did","change":%q,"now":%q}`+"\n", c.ID, c.Target.Name, c.Now, c.Then, c.ID, c.Then)
		if err := knob.Kinds["sysctl"].Write(s.Host, c.Target, c.Then); err != nil {
			t.Fatal(err)
		}
	}
	text += `{"step":"applied"}` + "\n"
	p, err := aPlan().Text()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{journal.Name: []byte(change(text)), planFile: p} {
		if err := os.WriteFile(filepath.Join(at, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s, at
}

func TestAJournalOfAnOlderSnagIsUndone(t *testing.T) {
	s, _ := oldStore(t, func(s string) string { return s })
	e, err := s.Undo("", "asked for")
	if err != nil || e.State.Phase != Undone || !e.Unchecked {
		t.Errorf("%v %+v", err, e)
	}
	asBefore(t, s)

	// Without checksums the plan beside it shows what is wrong, and that is not set.
	for name, change := range map[string]func(string) string{
		"an old value": func(s string) string { return strings.Replace(s, `"old":"4096"`, `"old":"4097"`, 1) },
		"a lost record": func(s string) string {
			i := strings.Index(s, `{"step":"will","change":"3"`)
			return s[:i] + s[i+strings.Index(s[i:], "\n")+1:]
		},
		"a null target": func(s string) string {
			return strings.Replace(s, `{"Kind":"sysctl","Name":"net.core.somaxconn"}`, "null", 1)
		},
		"garbage": func(s string) string {
			return strings.Replace(s, `{"step":"will","change":"3"`, `{"stdp":"wilm","chang`, 1)
		},
	} {
		s, _ := oldStore(t, change)
		if _, err := s.Undo("", "asked for"); err == nil {
			t.Errorf("%s: undo says that all is well", name)
		}
		asBefore(t, s, backlog)
		if got := value(t, s, backlog); got != "16384" && got != "4096" {
			t.Errorf("%s: somaxconn is %s", name, got)
		}
	}
}

// After a clock step back a later plan has an earlier name: the one that waits is meant.
func TestTheClockIsSetBack(t *testing.T) {
	_, s, at := applied(t)
	if _, err := s.Confirm(""); err != nil {
		t.Fatal(err)
	}
	// The first one's name is of the year after next.
	later := filepath.Join(s.Dir, "20281122-000834.498377")
	if err := os.Rename(at, later); err != nil {
		t.Fatal(err)
	}
	p := aPlan()
	p.Changes = p.Changes[:1]
	p.Changes[0].Now, p.Changes[0].Then, p.Changes[0].With = "8388608", "16777216", nil
	e, err := s.Apply(p, time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Verifiable(""); err != nil || v.ID != e.ID {
		t.Errorf("verify takes %s: %v", v.ID, err)
	}
	if c, err := s.Confirm(""); err != nil || c.ID != e.ID {
		t.Errorf("confirm takes %s: %v", c.ID, err)
	}
	if u, err := s.Undo("", "asked for"); err != nil || u.ID != e.ID {
		t.Errorf("undo takes %s, not the one that began last: %v", u.ID, err)
	}
}

// The deadline is a time since the boot: the wall clock may be anything.
func TestTheDeadlineDoesNotFollowTheClock(t *testing.T) {
	_, s, at := applied(t)
	now := sinceBoot()
	s.clock = func() time.Duration { return now }
	e := s.entry(filepath.Base(at))
	e.State.Deadline = time.Now().Add(-time.Hour) // the wall clock was set forward
	if s.over(e.State, 0) || s.due(t.Context(), e) != "" {
		t.Error("it is over, as the wall clock says")
	}
	e.State.Deadline = time.Now().Add(time.Hour) // and back
	now += time.Minute
	if !s.over(e.State, 0) || s.due(t.Context(), e) == "" {
		t.Error("it is not over, as the wall clock says")
	}
	if left := time.Until(s.DeadlineOf(e.State)); left > time.Second || left < -2*time.Second {
		t.Errorf("it is shown as %v from now", left)
	}
}

func TestAFolderThatOthersCanWrite(t *testing.T) {
	_, s, at := applied(t)
	for _, dir := range []string{s.Dir, at} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Undo("", "asked for"); err == nil || !strings.Contains(err.Error(), "can be written by others") {
			t.Errorf("%s: %v", dir, err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(s.Dir, 65534, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Apply(aPlan(), time.Minute, nil); err == nil || !strings.Contains(err.Error(), "belongs to user 65534") {
			t.Error(err)
		}
		if err := os.Chown(s.Dir, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	// A lock that is a link to another's file is not followed.
	if err := os.Remove(filepath.Join(s.Dir, "lock")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(s.Dir, "lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo("", "asked for"); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Error(err)
	}
	for _, id := range []string{"../state", "..", ".", "a/b"} {
		if _, err := s.Find(id); err == nil {
			t.Errorf("%q is a plan", id)
		}
	}
}

func TestTwoStoresOfOneHost(t *testing.T) {
	dir := t.TempDir()
	host(t, dir)
	one, two := store(dir), store(dir)
	one.Run, two.Run = filepath.Join(dir, "run"), filepath.Join(dir, "run")
	two.Dir = filepath.Join(dir, "state2")
	unlock, err := one.lock(true)
	if err != nil {
		t.Fatal(err)
	}
	_, err = two.Apply(aPlan(), time.Minute, nil)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d, with the store %s", os.Getpid(), one.Dir)) {
		t.Errorf("while the other works: %v", err)
	}
	unlock()
	e, err := one.Apply(aPlan(), time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := aPlan()
	for i := range p.Changes {
		p.Changes[i].Now, p.Changes[i].Then = p.Changes[i].Then, p.Changes[i].Now
	}
	if _, err := two.Apply(p, time.Minute, nil); err == nil || !strings.Contains(err.Error(), one.Dir) || !strings.Contains(err.Error(), e.ID+" is not confirmed yet") {
		t.Errorf("while the other waits: %v", err)
	}
	if _, err := one.Confirm(""); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Apply(p, time.Minute, nil); err != nil {
		t.Errorf("once it is confirmed: %v", err)
	}
	// An undo goes on where there is no /run to be written.
	two.Run = "/proc/nowhere"
	if _, err := two.Undo("", "asked for"); err != nil {
		t.Error(err)
	}
	if _, err := two.Apply(p, time.Minute, nil); err == nil {
		t.Error("a plan began without the lock")
	}
}

// A record of a journal that no program of ours wrote does not stop the others.
func FuzzUndo(f *testing.F) {
	_, _, at := applied(f)
	text, err := os.ReadFile(filepath.Join(at, journal.Name))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.TrimRight(text, "\n"))
	f.Add([]byte(`{"step":"begun","boot":"boot-1"}` + "\n" + `{"step":"will","change":"1","target":{"Kind":"sysctl","Name":"net.core.rmem_max"},"old":"1","new":"8388608"}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, s, at := applied(t)
		if err := os.WriteFile(filepath.Join(at, journal.Name), b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = s.All()
		_, _ = s.Undo("", "asked for")
		for _, c := range aPlan().Changes {
			if got := value(t, s, c.Target.Name); got != c.Now && got != c.Then {
				t.Errorf("%s is %s", c.Target, got)
			}
		}
	})
}
