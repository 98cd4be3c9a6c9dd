package leftover

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// mostEntries bounds a walk: an honest recording has some hundred files.
const mostEntries = 20_000

// found is what a look at a folder gave.
type found struct {
	nested bool // recordings are in folders of their own
	newest time.Time
	bytes  int64
	stays  string // the first reason not to remove it
	busy   bool
	locks  []*os.File // held, so that no writer begins
}

func (x *found) stay(format string, args ...any) {
	if x.stays == "" {
		x.stays = fmt.Sprintf(format, args...)
	}
}

func (x *found) unlock() {
	for _, f := range x.locks {
		f.Close()
	}
}

// examine looks at everything in a folder, and takes the locks of the recordings in it.
func examine(parent *os.Root, name string) (*found, error) {
	x := &found{nested: nested.MatchString(name)}
	before, err := parent.Lstat(name)
	if err != nil {
		return x, err
	}
	x.newest = before.ModTime()
	if !before.IsDir() {
		return x, errors.New("it is not a folder")
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		return x, err
	}
	defer root.Close()
	opened, err := root.Stat(".")
	if err != nil {
		return x, err
	}
	if !os.SameFile(before, opened) { // a link was put in its place
		return x, errors.New("it was replaced meanwhile")
	}
	device := before.Sys().(*syscall.Stat_t).Dev //nolint:forcetypeassert // Linux' Lstat gives no other
	n := 0
	err = fs.WalkDir(root.FS(), ".", func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if n++; n > mostEntries {
			x.stay("it holds over %d files", mostEntries)
			return fs.SkipAll
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return x.entry(root, at, info, device)
	})
	return x, err
}

// entry judges one file or folder of a leftover.
func (x *found) entry(root *os.Root, at string, info fs.FileInfo, device uint64) error {
	st := info.Sys().(*syscall.Stat_t) //nolint:forcetypeassert // as above
	switch {
	case int(st.Uid) != os.Geteuid():
		x.stay("%s belongs to another user", what(at))
	case st.Dev != device:
		x.stay("something is mounted at %s", at)
	case !info.IsDir() && !info.Mode().IsRegular():
		x.stay("%s is a %s, and snag writes none", at, kind(info.Mode()))
	case path.Base(at) == ringLock:
		x.stay("it is the ring of snag record")
	case !wrote(at, info.IsDir(), x.nested):
		x.stay("it holds %s, which snag did not write", at)
	}
	if x.stays != "" && at == "." {
		return fs.SkipAll // not the caller's: nothing in it is opened
	}
	if info.ModTime().After(x.newest) {
		x.newest = info.ModTime()
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	x.bytes += info.Size()
	return x.contents(root, at)
}

// contents looks into the files that show what a folder is.
func (x *found) contents(root *os.Root, at string) error {
	switch base := path.Base(at); {
	case base == lockFile:
		return x.lock(root, at)
	case base == manifestFile:
		return x.manifest(root, at)
	case strings.HasSuffix(base, packedSuffix):
		return x.packed(root, at)
	}
	return nil
}

func what(at string) string {
	if at == "." {
		return "it"
	}
	return at
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "link"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

func (x *found) lock(root *os.Root, at string) error {
	f, err := root.OpenFile(at, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		pid, _ := io.ReadAll(io.LimitReader(f, 10)) // no pid: it has just begun
		f.Close()
		x.busy = true
		x.stay("it is being written now, by pid %s", strings.TrimSpace(string(pid)))
		return nil
	}
	x.locks = append(x.locks, f)
	return nil
}
