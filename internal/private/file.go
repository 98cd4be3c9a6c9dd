package private

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Write puts bytes into a file, all of them or none, that only its owner can read, or everybody
// where files are shared. What has that
// name already is replaced; a link is, and not what it leads to. A pipe or a device is written to,
// if it is the user's own or root's.
func Write(name string, b []byte) error {
	return Put(name, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// Put is Write with a function that writes.
func Put(name string, write func(io.Writer) error) error {
	switch is, err := look(name); {
	case err != nil:
		return err
	case is == flows:
		f, err := openOwn(name)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	dir, base, err := parent(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	tmp := "." + base + "." + rand.Text()
	f, err := create(dir, tmp)
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Sync())
	if err = errors.Join(err, f.Close()); err == nil {
		err = unix.Renameat(int(dir.Fd()), tmp, int(dir.Fd()), base)
	}
	if err != nil {
		return errors.Join(err, unix.Unlinkat(int(dir.Fd()), tmp, 0))
	}
	return nil
}

// Create makes a new file that is written to bit by bit. What has that name is removed first,
// unless it is a pipe or a device.
func Create(name string) (*os.File, error) {
	switch is, err := look(name); {
	case err != nil:
		return nil, err
	case is == flows:
		return openOwn(name)
	}
	dir, base, err := parent(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := unix.Unlinkat(int(dir.Fd()), base, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return nil, &fs.PathError{Op: "replace", Path: name, Err: err}
	}
	return create(dir, base)
}

// kind is what has a name already.
type kind int

const (
	replaced kind = iota // nothing, a file, a link
	flows                // a pipe, a socket's end, a device that takes bytes
)

// look follows links only where root alone makes them: /dev/stdout is one. Elsewhere somebody may
// have put one there that leads to a disk.
func look(name string) (kind, error) {
	stat := os.Lstat
	if at := filepath.Clean(name); strings.HasPrefix(at, "/dev/") && !strings.HasPrefix(at, "/dev/shm/") || strings.HasPrefix(at, "/proc/") {
		stat = os.Stat
	}
	st, err := stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replaced, nil
	case err != nil:
		return replaced, err
	case st.IsDir():
		return replaced, errors.New("it is a folder")
	case st.Mode()&fs.ModeNamedPipe != 0, st.Mode()&fs.ModeCharDevice != 0:
		return flows, nil
	case st.Mode().IsRegular(), st.Mode()&fs.ModeSymlink != 0:
		return replaced, nil
	}
	return replaced, fmt.Errorf("write to %s: it is neither a file nor a pipe", name)
}

func parent(name string) (dir *os.File, base string, err error) {
	at, base := filepath.Split(filepath.Clean(name))
	if at == "" {
		at = "."
	}
	dir, err = os.OpenFile(at, os.O_RDONLY|unix.O_DIRECTORY, 0)
	return dir, base, err
}

func create(dir *os.File, base string) (*os.File, error) {
	name := filepath.Join(dir.Name(), base)
	fd, err := unix.Openat(int(dir.Fd()), base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: err}
	}
	f := os.NewFile(uintptr(fd), name)
	if err := f.Chmod(FileMode()); err != nil { // a umask may forbid it
		return nil, errors.Join(err, f.Close(), unix.Unlinkat(int(dir.Fd()), base, 0))
	}
	return f, nil
}

// openOwn opens a pipe or a device of the user or of root, or the one that standard output is: a
// pipe of somebody else's is a way for him to read it all.
func openOwn(name string) (*os.File, error) {
	// Asked twice: opening somebody's pipe would wait for his reader, and may find another.
	st, err := os.Stat(name)
	if err == nil {
		err = own(name, st)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if st, err = f.Stat(); err == nil {
		err = own(name, st)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func own(name string, st fs.FileInfo) error {
	if uid := st.Sys().(*syscall.Stat_t).Uid; uid != 0 && int(uid) != os.Geteuid() && !standard(st) {
		return fmt.Errorf("write to %s: it belongs to %s", name, userName(uid))
	}
	return nil
}

func standard(st fs.FileInfo) bool {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if out, err := f.Stat(); err == nil && os.SameFile(out, st) {
			return true
		}
	}
	return false
}
