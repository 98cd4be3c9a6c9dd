package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// dropPrivileges takes all capabilities from every thread for good, where snag is run by
// root: what follows reads the bytes of a stranger. Files of root's and what everybody
// may read can be opened still; all else has to be open by now (stranger).
func dropPrivileges() error {
	if os.Geteuid() != 0 {
		return nil
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if _, _, e := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0); e != 0 {
		return fmt.Errorf("give up what root may do: no_new_privs: %w: a snag that is built without cgo can (CGO_ENABLED=0); or run this one as another user", e)
	}
	if _, _, e := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&none)), 0); e != 0 {
		return fmt.Errorf("give up what root may do: capset: %w", e)
	}
	return nil
}

// strangers are recordings that were made ready while root could still read them.
type strangers struct {
	name   map[string]string   // where each can be read now
	file   map[string]*os.File // of packed ones
	copies []string
}

// ready opens recordings that are about to be read, and then gives up all privileges. A
// path "" is none.
func ready(paths ...string) (*strangers, error) {
	s := &strangers{name: map[string]string{}, file: map[string]*os.File{}}
	for _, path := range paths {
		if path == "" || os.Geteuid() != 0 {
			continue
		}
		if err := s.keep(path); err != nil {
			s.close()
			return nil, err
		}
	}
	if err := dropPrivileges(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// keep opens a file; a folder in which something is another user's alone is copied.
func (s *strangers) keep(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // opening it says why not, in its own words
	}
	if !st.IsDir() {
		if !st.Mode().IsRegular() {
			return nil
		}
		f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
		if err == nil {
			s.file[path] = f
		}
		return nil //nolint:nilerr // as above
	}
	if !hasPrivate(path) {
		return nil
	}
	to, err := os.MkdirTemp("", "snag-copy-")
	if err != nil {
		return fmt.Errorf("copy %s: %w", path, err)
	}
	s.copies = append(s.copies, to)
	s.name[path] = to
	return copyFolder(path, to)
}

// hasPrivate reports whether a folder holds what root can't read as an ordinary user.
func hasPrivate(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // nor can it be copied
		}
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // it went away
		}
		need := fs.FileMode(0o4)
		if e.IsDir() {
			need = 0o5
		}
		own, ok := info.Sys().(*syscall.Stat_t)
		if ok && own.Uid != 0 && info.Mode().Perm()&need != need {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// mostCopied bytes of a folder are copied: a recording's bounds are below.
const mostCopied = 1 << 30

// copyFolder copies regular files, and follows no link out of the folder.
func copyFolder(from, to string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	defer root.Close()
	left := int64(mostCopied)
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		if !e.Type().IsRegular() {
			return nil
		}
		n, err := copyFile(root, name, filepath.Join(to, name), left)
		if left -= n; left <= 0 {
			return &recording.LimitError{Path: from, What: fmt.Sprintf("has over %d MB of files", mostCopied>>20)}
		}
		return err
	})
}

func copyFile(root *os.Root, name, to string, most int64) (int64, error) {
	in, err := root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, most))
	return n, errors.Join(err, out.Close())
}

// openAs is open, but for what this run has just made itself.
func (s *strangers) openAs(own bool, path string) (*recording.Recording, error) {
	if own {
		return recording.OpenOwn(path)
	}
	return s.open(path)
}

// open is recording.Open of a path that was made ready, or of any other where nothing was
// (nil). Of a file that another tool may have written, the error names the command that reads it.
func (s *strangers) open(path string) (*recording.Recording, error) {
	r, err := s.openRecording(path)
	var none *recording.NotRecordingError
	if st, statErr := os.Stat(path); errors.As(err, &none) && statErr == nil && st.Mode().IsRegular() {
		return r, fmt.Errorf("%w; if another tool wrote it: snag read %s", err, quoted(path))
	}
	return r, err
}

func (s *strangers) openRecording(path string) (*recording.Recording, error) {
	if s == nil {
		return recording.Open(path)
	}
	if f := s.file[path]; f != nil {
		return recording.OpenPacked(f, path)
	}
	if copied := s.name[path]; copied != "" {
		r, err := recording.Open(copied)
		if err != nil {
			return nil, fmt.Errorf("%s (copied): %w", path, err)
		}
		r.Dir = path
		for _, part := range r.Parts {
			part.Dir = path
		}
		return r, nil
	}
	return recording.Open(path)
}

func (s *strangers) close() {
	for _, f := range s.file {
		f.Close()
	}
	for _, dir := range s.copies {
		_ = os.RemoveAll(dir) // root's own, in a folder of this run
	}
}
