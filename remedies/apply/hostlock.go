package apply

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"snag/remedies/journal"
)

// DefaultRun is where snags of one host, whatever their store is, see each other. It is
// on a file system that a boot empties, as settings are.
const DefaultRun = "/run/snag-tune"

// Files in it.
const (
	hostLock = "lock" // held while settings are changed or put back
	openPlan = "open" // names the folder of the plan that was begun last
)

// runFolder is that folder as the first process sees it: who runs in a mount namespace of
// its own (ip netns exec, unshare, a service with PrivateMounts=) changes the same host's
// settings. A container with processes of its own has a first process, and /run, of its
// own.
func runFolder() string {
	own, err1 := os.Readlink("/proc/self/ns/mnt")
	first, err2 := os.Readlink("/proc/1/ns/mnt")
	if err1 == nil && err2 == nil && own != first {
		if st, err := os.Stat("/proc/1/root/run"); err == nil && st.IsDir() {
			return "/proc/1/root" + DefaultRun
		}
	}
	return DefaultRun
}

// lockHost keeps the snags of all other stores out. Where there is no /run to be written
// (begins is false: an undo) it goes on without: that must never fail for want of space.
func (s *Store) lockHost(begins bool) (unlock func(), err error) {
	if s.Run == "" {
		return func() {}, nil
	}
	path := filepath.Join(s.Run, hostLock)
	f, err := s.openHostLock(path)
	if err != nil {
		if begins {
			return nil, fmt.Errorf("lock this host's settings by %s: %w", path, err)
		}
		return func() {}, nil
	}
	if err := flock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		who, _ := io.ReadAll(io.LimitReader(f, 4096))
		_ = f.Close()
		return nil, fmt.Errorf("%w (%s; %s is locked): wait for it", ErrLocked, strings.TrimSpace(string(who)), path)
	}
	// Who it is, for the others; not more than a courtesy.
	if w, err := journal.OpenFile(path, os.O_WRONLY|os.O_TRUNC); err == nil {
		_, _ = fmt.Fprintf(w, "process %d, with the store %s\n", os.Getpid(), s.Dir)
		_ = w.Close()
	}
	return func() { _ = f.Close() }, nil
}

func (s *Store) openHostLock(path string) (*os.File, error) {
	if err := makeFolder(s.Run); err != nil {
		return nil, err
	}
	return journal.OpenFile(path, os.O_RDONLY|os.O_CREATE)
}

// register tells the snags of other stores which plan was begun here.
func (s *Store) register(dir string) error {
	if s.Run == "" {
		return nil
	}
	return write(filepath.Join(s.Run, openPlan), []byte(dir+"\n"))
}

// freeElsewhere reports whether a plan of another store waits for somebody on this host.
func (s *Store) freeElsewhere() error {
	if s.Run == "" {
		return nil
	}
	path := filepath.Join(s.Run, openPlan)
	f, err := journal.OpenFile(path, os.O_RDONLY)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, 8192))
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	dir := strings.TrimSuffix(string(b), "\n")
	if _, err := os.Stat(dir); err != nil || filepath.Dir(dir) == s.Dir {
		return nil // it is not there any more, or the store's own look tells of it
	}
	other := *s
	other.Dir = filepath.Dir(dir)
	if err := s.waits(other.entry(filepath.Base(dir))); err != nil {
		return fmt.Errorf("of another store, %s: %w (with --store %s)", other.Dir, err, other.Dir)
	}
	return nil
}
