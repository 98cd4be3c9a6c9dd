package apply

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snag/remedies/journal"
	"snag/remedies/knob"
	"snag/remedies/persist"
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
	// Run is the folder by which stores of one host exclude each other; "": none.
	Run string
	// Tell is told what a person should know beside the outcome; nil: nobody.
	Tell func(string)
	// clock is the time since the boot; nil: the kernel's.
	clock func() time.Duration
	// wrap gives a test a journal that fails.
	wrap func(*journal.Journal) log
}

// Real is this host's store. run is where stores exclude each other; "": the host's own.
func Real(dir, run string) (*Store, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, fmt.Errorf("read this boot's id: %w", err)
	}
	dir, err = filepath.Abs(dir) // the guard runs elsewhere
	if err != nil {
		return nil, fmt.Errorf("find the folder of the journals: %w", err)
	}
	s := &Store{Dir: dir, Host: knob.Real(), Kinds: knob.Kinds, Boot: strings.TrimSpace(string(boot)), Run: run}
	var flags []string // of the guard, who must meet the same lock
	if run == "" {
		s.Run = runFolder()
	} else {
		flags = []string{"--run", run}
	}
	s.Arm = func(dir string, _ time.Time) (string, error) { return Arm(dir, flags...) }
	return s, nil
}

func (s *Store) tell(format string, args ...any) {
	if s.Tell != nil {
		s.Tell(fmt.Sprintf(format, args...))
	}
}

// ErrLocked is of a host on which another snag is at work.
var ErrLocked = errors.New("another snag carries out or undoes a plan right now")

// lock keeps every other snag from carrying out or undoing on this host. begins tells
// that a plan is to begin: then each lock must be there.
func (s *Store) lock(begins bool) (unlock func(), err error) {
	if begins {
		err = makeFolder(s.Dir)
	} else {
		err = checkFolder(s.Dir)
	}
	switch {
	case errors.Is(err, unix.ENOENT) && !begins:
		return nil, unreadable{errNone(s.Dir)}
	case err != nil:
		return nil, unreadable{fmt.Errorf("find the journals: %w", err)}
	}
	other, err := s.lockHost(begins)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.Dir, "lock")
	f, err := journal.OpenFile(path, os.O_RDONLY|os.O_CREATE)
	if err != nil {
		other()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := flock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		other()
		return nil, fmt.Errorf("%w (%s is locked): wait for it", ErrLocked, path)
	}
	return func() { _ = f.Close(); other() }, nil
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

// write puts a file on disk whole, or not at all.
func write(path string, b []byte) error {
	tmp := path + ".new"
	_ = os.Remove(tmp) // of a kill
	f, err := journal.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
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
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return nil
}

// cause is the error below one that names a file.
func cause(err error) error {
	if e := errors.Unwrap(err); e != nil {
		return e
	}
	return err
}
