package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snag/remedies/journal"
	"snag/remedies/knob"
	"snag/remedies/persist"
	"snag/remedies/plan"
)

// DefaultDir is where plans that were carried out are kept, a folder for each.
const DefaultDir = "/var/lib/snag/tune"

// Store is the plans of a host that were carried out, and what they are carried out
// with.
type Store struct {
	Dir   string
	Host  knob.Host
	Kinds map[string]knob.Knob
	// Boot is this boot's id: settings of a kernel end with it.
	Boot string
	// Arm has somebody wait for the deadline, apart from this process and its
	// terminal, and returns who it is once he waits.
	Arm func(dir string, deadline time.Time) (who string, err error)
	// Disk is where what is persisted is kept; the zero value is the host's own.
	Disk persist.Disk
	// wrap gives a test a journal that fails.
	wrap func(*journal.Journal) log
}

// Real is this host's store.
func Real(dir string) (*Store, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, fmt.Errorf("read this boot's id: %w", err)
	}
	dir, err = filepath.Abs(dir) // the guard runs elsewhere
	if err != nil {
		return nil, fmt.Errorf("find the folder of the journals: %w", err)
	}
	return &Store{Dir: dir, Host: knob.Real(), Kinds: knob.Kinds, Boot: strings.TrimSpace(string(boot)), Arm: Arm}, nil
}

// Entry is one plan that was carried out.
type Entry struct {
	ID    string // its folder's name, by which they are in order of time
	Dir   string
	Plan  *plan.Plan
	State State
	// Damage says why its journal can't be read; State is empty then.
	Damage error
}

// planFile is the plan as it was accepted, in its folder.
const planFile = "plan.yaml"

// All are the plans that were carried out, the oldest first.
func (s *Store) All() ([]Entry, error) {
	dirs, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", s.Dir, errors.Unwrap(err))
	}
	var all []Entry
	for _, d := range dirs {
		if d.IsDir() {
			all = append(all, s.entry(d.Name()))
		}
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

func (s *Store) entry(id string) Entry {
	e := Entry{ID: id, Dir: filepath.Join(s.Dir, id)}
	records, err := journal.Read(e.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // killed before the journal was made: nothing was changed
	}
	e.State, e.Damage = StateOf(records), err
	if p, err := plan.ReadFile(filepath.Join(e.Dir, planFile)); err == nil {
		e.Plan = p
	}
	return e
}

// Find finds a plan by its ID; "" is the last one.
func (s *Store) Find(id string) (Entry, error) {
	all, err := s.All()
	if err != nil {
		return Entry{}, err
	}
	for _, e := range slices.Backward(all) {
		if e.ID == id || id == "" {
			return e, nil
		}
	}
	if id == "" {
		return Entry{}, fmt.Errorf("no plan was carried out on this host (none in %s)", s.Dir)
	}
	return Entry{}, fmt.Errorf("there is no plan %s in %s: snag tune status lists them", id, s.Dir)
}

// ErrLocked is of a host on which another snag is at work.
var ErrLocked = errors.New("another snag carries out or undoes a plan right now")

// lock keeps every other snag from carrying out or undoing on this host.
func (s *Store) lock() (unlock func(), err error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make %s for the journal: %w", s.Dir, errors.Unwrap(err))
	}
	path := filepath.Join(s.Dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, errors.Unwrap(err))
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch err {
		case nil:
			return func() { _ = f.Close() }, nil
		case unix.EINTR:
			continue
		}
		_ = f.Close()
		return nil, fmt.Errorf("%w (%s is locked): wait for it", ErrLocked, path)
	}
}

// write puts a file on disk whole, or not at all.
func write(path string, b []byte) error {
	tmp := path + ".new"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Unwrap(err))
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if c := f.Close(); err == nil {
		err = c
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("write %s: %w", path, errors.Unwrap(err))
	}
	return nil
}
