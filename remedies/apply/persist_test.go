package apply

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snag/remedies/export"
	"snag/remedies/journal"
	"snag/remedies/knob"
	"snag/remedies/persist"
	"snag/remedies/plan"
)

const (
	conf = "/etc/sysctl.d/90-snag-plan.conf"
	unit = "/etc/systemd/system/snag-plan@eth0.service.d/50-snag-plan.conf"
	want = "/etc/systemd/system/sys-subsystem-net-devices-eth0.device.wants/snag-plan@eth0.service"
)

// files are the plan's drop-in, and two more as the unit format has them.
func files(p *plan.Plan) ([]persist.File, error) {
	r, err := export.As("sysctl.d", p, "", knob.ForPlan(), export.Facts{})
	if err != nil {
		return nil, err
	}
	all, err := persist.FilesOf(r)
	return append(all, persist.File{Path: unit, Text: export.Mark + "\n[Service]\n"}, persist.File{Path: want, Link: "/etc/systemd/system/snag-plan@.service"}), err
}

// kept is a host with a confirmed plan.
func kept(t testing.TB) (string, *Store) {
	t.Helper()
	dir := t.TempDir()
	host(t, dir)
	s := withDisk(dir)
	if _, err := s.Apply(aPlan(), time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Confirm(""); err != nil {
		t.Fatal(err)
	}
	return dir, s
}

func withDisk(dir string) *Store {
	s := store(dir)
	s.Disk.Root = filepath.Join(dir, "root")
	return s
}

// left are the files below a folder.
func left(t testing.TB, dir string) (all []string) {
	t.Helper()
	err := filepath.Walk(filepath.Join(dir, "root"), func(path string, st os.FileInfo, err error) error {
		if err == nil && !st.IsDir() {
			all = append(all, strings.TrimPrefix(path, filepath.Join(dir, "root")))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPersistedFilesAreRemovedByUndo(t *testing.T) {
	dir, s := kept(t)
	e, err := s.Persist("", files)
	if err != nil {
		t.Fatal(err)
	}
	if got := left(t, dir); len(got) != 3 || len(e.State.Files) != 3 || e.State.Files[0].Half {
		t.Errorf("%v, %+v", got, e.State.Files)
	}
	text, err := os.ReadFile(filepath.Join(dir, "root", conf))
	if err != nil || !strings.HasPrefix(string(text), export.Mark) || !strings.Contains(string(text), "\nnet.core.rmem_max = 8388608\n") {
		t.Errorf("%v %s", err, text)
	}
	if _, err := s.Persist("", files); err != nil { // once more is the same
		t.Error(err)
	}
	if e, err = s.Undo("", "asked for"); err != nil || e.State.Phase != Undone || len(e.State.Files) != 0 {
		t.Errorf("%v %+v", err, e.State)
	}
	if got := left(t, dir); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "root", filepath.Dir(unit))); err == nil {
		t.Error("an empty drop-in folder is left")
	}
	asBefore(t, s)
}

func TestNothingIsPersistedThatIsNotConfirmed(t *testing.T) {
	dir := t.TempDir()
	host(t, dir)
	s := withDisk(dir)
	if _, err := s.Apply(aPlan(), time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Persist("", files); err == nil || !strings.Contains(err.Error(), "is not confirmed") {
		t.Error(err)
	}
	if _, err := s.Undo("", "asked for"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Persist("", files); err == nil || !strings.Contains(err.Error(), "it is undone") {
		t.Error(err)
	}
	if got := left(t, dir); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// After a boot the host runs with the plan's values again, by the files: undo puts the
// old ones back, and leaves what somebody else has set.
func TestUndoAfterABootOfAPersistedPlan(t *testing.T) {
	dir, s := kept(t)
	if _, err := s.Persist("", files); err != nil {
		t.Fatal(err)
	}
	s.Boot = "boot-2"
	if err := os.WriteFile(filepath.Join(dir, "proc/sys/net/core/somaxconn"), []byte("777\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := s.Undo("", "asked for")
	if err != nil || e.State.Phase != Undone {
		t.Fatalf("%v %+v", err, e.State)
	}
	asBefore(t, s, backlog)
	if got := value(t, s, backlog); got != "777" {
		t.Errorf("what the boot set to 777 is %s", got)
	}
	if got := left(t, dir); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

func TestAFileThatAnotherChangedIsLeftAndSaid(t *testing.T) {
	dir, s := kept(t)
	if _, err := s.Persist("", files); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "root", conf)
	if err := os.WriteFile(path, []byte("net.core.rmem_max = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := s.Undo("", "asked for")
	if err == nil || !errors.Is(err, persist.ErrChanged) || !strings.Contains(err.Error(), conf) {
		t.Error(err)
	}
	if e.State.Phase != Undone || len(e.State.Files) != 0 {
		t.Errorf("%+v", e.State)
	}
	if got := left(t, dir); len(got) != 1 || got[0] != conf {
		t.Errorf("left: %v", got)
	}
	asBefore(t, s)
}

func TestAFileOfSomebodyElse(t *testing.T) {
	for text, want := range map[string]string{
		"vm.swappiness = 1\n":                 "is not snag's: move it away",
		export.Mark + " for another\nx = 1\n": "is there from another plan of snag's",
	} {
		dir, s := kept(t)
		path := filepath.Join(dir, "root", unit)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Persist("", files); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("%v, want %q", err, want)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("it was overwritten: %s", got)
		}
		if got := left(t, dir); len(got) != 1 {
			t.Errorf("left: %v", got)
		}
	}
}

// killedAt runs a test of this package again in a process of its own, which kills
// itself by SIGKILL at a record.
func killedAt(t *testing.T, test, dir string, at int) (killed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^"+test+"$")
	cmd.Env = append(os.Environ(), "SNAG_TEST_PERSIST_IN="+dir, fmt.Sprintf("SNAG_TEST_KILLED_AT=%d", at))
	return cmd.Run() != nil
}

// dyingStore is a store whose process dies at a record; nil where it is not to.
func dyingStore() *Store {
	dir := os.Getenv("SNAG_TEST_PERSIST_IN")
	if dir == "" {
		return nil
	}
	at, _ := strconv.Atoi(os.Getenv("SNAG_TEST_KILLED_AT"))
	s, n := withDisk(dir), 0
	s.wrap = func(j *journal.Journal) log { return dying{j, &n, at} }
	return s
}

// Killed just before and after each record of persist.
func TestKilledWhilePersisting(t *testing.T) {
	if s := dyingStore(); s != nil {
		_, _ = s.Persist("", files)
		return
	}
	killed := 0
	for at := range 14 {
		dir, s := kept(t)
		if killedAt(t, "TestKilledWhilePersisting", dir, at) {
			killed++
		}
		if at%2 == 0 { // it may be gone on with, or taken back
			if _, err := s.Persist("", files); err != nil {
				t.Errorf("killed at %d: %v", at, err)
			}
			if got := left(t, dir); len(got) != 3 {
				t.Errorf("killed at %d, gone on with: %v", at, got)
			}
		}
		if e, err := s.Undo("", "after the kill"); err != nil || e.State.Phase != Undone {
			t.Errorf("killed at %d: %v", at, err)
		}
		if got := left(t, dir); len(got) != 0 {
			t.Errorf("killed at %d, left: %v", at, got)
		}
		asBefore(t, s)
	}
	if killed != 12 {
		t.Errorf("%d were killed", killed)
	}
}

// Killed at each record of the undo of a persisted plan; then the host is booted, or
// not, and another undo ends it. The boot sets what the files that are left say.
func TestKilledWhileUndoingAPersistedPlan(t *testing.T) {
	if s := dyingStore(); s != nil {
		_, _ = s.Undo("", "asked for")
		return
	}
	killed := 0
	for at := range 19 {
		dir, s := kept(t)
		if _, err := s.Persist("", files); err != nil {
			t.Fatal(err)
		}
		if killedAt(t, "TestKilledWhileUndoingAPersistedPlan", dir, at) {
			killed++
		}
		if at%2 == 0 {
			s.Boot = "boot-2"
			host(t, dir)
			for _, f := range left(t, dir) {
				if f == conf {
					for _, c := range aPlan().Changes {
						if err := knob.Kinds["sysctl"].Write(s.Host, c.Target, c.Then); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
		e, err := s.Find("")
		if err != nil {
			t.Fatal(err)
		}
		if e.State.Phase != Undone {
			if e, err = s.Undo("", "again"); err != nil || e.State.Phase != Undone {
				t.Errorf("killed at %d: %v", at, err)
			}
		}
		if got := left(t, dir); len(got) != 0 {
			t.Errorf("killed at %d, left: %v", at, got)
		}
		asBefore(t, s)
	}
	if killed != 18 {
		t.Errorf("%d were killed", killed)
	}
}

func TestAJournalThatIsFullWhilePersisting(t *testing.T) {
	for n := range 6 {
		dir, s := kept(t)
		room := n
		s.wrap = func(j *journal.Journal) log { return failing{j, &room} }
		if _, err := s.Persist("", files); !errors.Is(err, errFull) {
			t.Errorf("full at record %d: %v", n, err)
		}
		s.wrap = nil
		if e, err := s.Undo("", "room again"); err != nil || e.State.Phase != Undone {
			t.Errorf("full at record %d: %v", n, err)
		}
		if got := left(t, dir); len(got) != 0 {
			t.Errorf("full at record %d, left: %v", n, got)
		}
		asBefore(t, s)
	}
}

// mounted has a small file system of its own in the place of the host's root.
func mounted(t *testing.T, dir, options string) (root string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a file system needs root")
	}
	root = filepath.Join(dir, "root")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("snag-test", root, "tmpfs", 0, options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(root, 0) })
	return root
}

func TestADiskThatIsFullAndOneThatIsReadOnly(t *testing.T) {
	dir, s := kept(t)
	root := mounted(t, dir, "size=4k,nr_inodes=12")
	if _, err := s.Persist("", files); !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "free some space") || !strings.Contains(err.Error(), "no file is left of it") {
		t.Errorf("full: %v", err)
	}
	if got := left(t, dir); len(got) != 0 {
		t.Errorf("full, left: %v", got)
	}
	if err := unix.Mount("", root, "", unix.MS_REMOUNT, "size=1m,nr_inodes=100"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Persist("", files); err != nil {
		t.Fatal(err)
	}

	// Read-only when it is undone: the values come back, the files are said to be left,
	// and a later undo takes them away.
	if err := unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	e, err := s.Undo("", "asked for")
	if !errors.Is(err, unix.EROFS) || !strings.Contains(err.Error(), "/etc is read-only here") || len(e.State.Files) != 3 {
		t.Errorf("read-only: %v %+v", err, e.State.Files)
	}
	asBefore(t, s)
	if err := unix.Mount("", root, "", unix.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	if e, err = s.Undo("", "asked for"); err != nil || len(e.State.Files) != 0 {
		t.Errorf("writable again: %v %+v", err, e.State)
	}
	if got := left(t, dir); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}
