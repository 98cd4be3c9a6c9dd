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

	"golang.org/x/sys/unix"

	"snag/remedies/journal"
	"snag/remedies/knob"
)

// small is a host whose store is on a small file system of its own: a tmpfs, or an ext4
// in a file, which can be made full and read-only.
type small struct {
	t   *testing.T
	dir string
	s   *Store
	fs  string
}

func smallDisk(t *testing.T, fs string) *small {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a file system needs root")
	}
	dir := t.TempDir()
	host(t, dir)
	d := &small{t, dir, store(dir), fs}
	if err := os.MkdirAll(d.s.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if fs == "tmpfs" {
		if err := unix.Mount("snag-test", d.s.Dir, "tmpfs", 0, "size=256k,mode=700"); err != nil {
			t.Skip("mount a tmpfs:", err)
		}
	} else {
		image := filepath.Join(dir, "image")
		for _, words := range [][]string{
			{"truncate", "-s", "2M", image}, {"mkfs.ext4", "-q", "-m", "0", "-O", "^has_journal", image}, {"mount", "-o", "loop,nosuid", image, d.s.Dir}, {"chmod", "700", d.s.Dir},
		} {
			if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%v: %v: %s", words, err, out)
			}
		}
	}
	t.Cleanup(func() {
		if err := unix.Unmount(d.s.Dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *small) filler() string { return filepath.Join(d.s.Dir, "filler") }

// full leaves no byte.
func (d *small) full() {
	d.t.Helper()
	f, err := os.OpenFile(d.filler(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for n := 65536; n > 0; {
		_, err := f.Write(make([]byte, n))
		if err == nil {
			err = f.Sync()
		}
		if errors.Is(err, unix.ENOSPC) {
			n /= 2
		} else if err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *small) room() {
	d.t.Helper()
	if err := os.Remove(d.filler()); err != nil {
		d.t.Fatal(err)
	}
}

func (d *small) remount(flags uintptr) {
	d.t.Helper()
	if err := unix.Mount("", d.s.Dir, "", unix.MS_REMOUNT|flags, ""); err != nil {
		d.t.Fatal(err)
	}
}

var disks = []string{"tmpfs", "ext4"}

// A disk that fills up between apply and undo: the room was kept, and all is noted.
func TestADiskThatFillsUpBeforeUndo(t *testing.T) {
	for _, fs := range disks {
		t.Run(fs, func(t *testing.T) {
			d := smallDisk(t, fs)
			d.s.Tell = func(text string) { t.Error(text) } // it keeps the room
			if _, err := d.s.Apply(aPlan(), time.Minute, nil); err != nil {
				t.Fatal(err)
			}
			d.full()
			e, err := d.s.Undo("", "asked for")
			if err != nil || e.State.Phase != Undone {
				t.Errorf("%v, %s", err, e.State.Phase)
			}
			asBefore(t, d.s)
		})
	}
}

// A disk that fills up in the midst of apply, after each record: apply goes on.
func TestADiskThatFillsUpDuringApply(t *testing.T) {
	for _, fs := range disks {
		for at := range 9 {
			d := smallDisk(t, fs)
			n := 0
			d.s.wrap = func(j *journal.Journal) log {
				return beforeEach{j, func(r journal.Record) {
					if n++; n == at+2 { // the first is that it begins
						d.full()
					}
				}}
			}
			e, err := d.s.Apply(aPlan(), time.Minute, nil)
			if err != nil || e.State.Phase != Unconfirmed {
				t.Errorf("%s, full at record %d: %v", fs, at, err)
			}
			if e, err := d.s.Undo("", "asked for"); err != nil || e.State.Phase != Undone {
				t.Errorf("%s, full at record %d: %v", fs, at, err)
			}
			asBefore(t, d.s)
		}
	}
}

// beforeEach does something before each record.
type beforeEach struct {
	log
	do func(journal.Record)
}

func (b beforeEach) Append(r journal.Record) error {
	b.do(r)
	return b.log.Append(r)
}

// Where the room for a complete undo can't be had, nothing is begun.
func TestNoRoomForAnUndo(t *testing.T) {
	for _, fs := range disks {
		d := smallDisk(t, fs)
		d.full()
		_, err := d.s.Apply(aPlan(), time.Minute, nil)
		if err == nil || !strings.Contains(err.Error(), "nothing was changed") || !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: %v", fs, err)
		}
		asBefore(t, d.s)
		d.room()
		if all, err := d.s.All(); err != nil || len(all) != 0 {
			t.Errorf("%s: something is left: %v %v", fs, all, err)
		}
		if _, err := d.s.Apply(aPlan(), time.Minute, nil); err != nil {
			t.Errorf("%s, with room again: %v", fs, err)
		}
		if _, err := d.s.Undo("", "asked for"); err != nil {
			t.Error(err)
		}
	}
}

// A disk that is read-only at undo: all settings come back, it is said that this is not
// noted, and once it can be written it is.
func TestADiskThatIsReadOnlyAtUndo(t *testing.T) {
	for _, fs := range disks {
		d := smallDisk(t, fs)
		if _, err := d.s.Apply(aPlan(), time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		d.remount(unix.MS_RDONLY)
		e, err := d.s.Undo("", "asked for")
		if !OnlyNotNoted(err) || !errors.Is(err, unix.EROFS) || e.State.Phase != Unconfirmed {
			t.Errorf("%s: %v, %s", fs, err, e.State.Phase)
		}
		asBefore(t, d.s)
		d.remount(0)
		if e, err = d.s.Undo("", "asked for"); err != nil || e.State.Phase != Undone {
			t.Errorf("%s, writable again: %v, %s", fs, err, e.State.Phase)
		}
		asBefore(t, d.s)
	}
}

// The guard undoes on a disk that is read-only, tries until it is noted, and says so.
func TestTheGuardOfADiskThatIsReadOnly(t *testing.T) {
	for _, fs := range disks {
		d := smallDisk(t, fs)
		if _, err := d.s.Apply(aPlan(), time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		d.remount(unix.MS_RDONLY)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		said := &syncBuffer{}
		done := make(chan error, 1)
		go func() { done <- d.s.Guard(ctx, "", io.Discard, said) }()
		for end := time.Now().Add(10 * time.Second); !strings.Contains(said.String(), "trying again") && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		if !strings.Contains(said.String(), "read-only file system") || !strings.Contains(said.String(), "trying again in 250ms") {
			t.Errorf("%s: it says %q", fs, said.String())
		}
		asBefore(t, d.s)
		d.remount(0)
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", fs, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: it does not end", fs)
		}
		if e, err := d.s.Find(""); err != nil || e.State.Phase != Undone {
			t.Errorf("%s: %v, %s", fs, err, e.State.Phase)
		}
	}
}

// A setting that can't be written at first: the guard tries again until it can.
func TestTheGuardTriesAgain(t *testing.T) {
	_, s, at := applied(t)
	stuck := &stuckKind{Knob: s.Kinds["sysctl"], left: 3}
	s.Kinds = map[string]knob.Knob{"sysctl": stuck}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	said := &syncBuffer{}
	if err := s.Guard(ctx, filepath.Base(at), io.Discard, said); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	if !strings.Contains(said.String(), "device or resource busy; trying again in") && !strings.Contains(said.String(), "trying again in 500ms") {
		t.Errorf("it says %q", said)
	}
	s.Kinds["sysctl"] = stuck.Knob
	asBefore(t, s)
}

// The folder of a plan is removed while its guard waits: the settings come back all the
// same, by what it read before.
func TestTheGuardOfAPlanThatIsRemoved(t *testing.T) {
	_, s, at := applied(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Guard(ctx, filepath.Base(at), io.Discard, &syncBuffer{}) }()
	time.Sleep(600 * time.Millisecond) // it has looked
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "is gone: its settings are as before") {
		t.Error(err)
	}
	asBefore(t, s)
}
