// Package private makes files and folders that only their owner can read, and in whose making
// nobody else had a hand. snag runs as root, and everybody may write to /tmp: a folder that is
// there already may be somebody's, and a link in it may lead anywhere.
package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// shared is whether others may read what is made, as a umask is: for the whole process.
var shared atomic.Bool

// Share lets everybody read what is made from now on.
func Share() { shared.Store(true) }

// FileMode is that of the files that are made: 0600, or 0644 where they are shared.
func FileMode() fs.FileMode {
	if shared.Load() {
		return 0o644
	}
	return 0o600
}

// FolderMode is that of the folders that are made: 0700, or 0755 where they are shared.
func FolderMode() fs.FileMode {
	if shared.Load() {
		return 0o755
	}
	return 0o700
}

// New makes a new folder in the one for temporary files ($TMPDIR, /tmp), with a name that nobody
// can know before: /tmp/snag-20261127-014134-2871936418.
func New(now time.Time) (string, error) {
	dir, err := os.MkdirTemp("", "snag-"+now.Format("20060102-150405")+"-*") // mode 0700
	if err != nil {
		return "", fmt.Errorf("make a folder for the recording: %w: name one that can be written to (--out, TMPDIR)", err)
	}
	return dir, os.Chmod(dir, FolderMode())
}

// Folder is a folder that is held open: what is made by its Path is made in it, whatever becomes
// of its name meanwhile.
type Folder struct {
	name string
	file *os.File
}

// Open makes a folder that is not there, and opens one that is. It refuses a link, a
// folder of another user, and one that others may write to. It may hold anything.
func Open(name string) (*Folder, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(name, FolderMode()); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		if st, statErr := os.Lstat(name); statErr == nil && st.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s is a link: name the folder that it leads to", name)
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f := &Folder{name: name, file: os.NewFile(uintptr(fd), name)}
	if err := f.ours(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ours reports why the folder can't be trusted, if it can't.
func (f *Folder) ours() error {
	st, err := f.file.Stat()
	if err != nil {
		return err
	}
	own := st.Sys().(*syscall.Stat_t)
	if int(own.Uid) != os.Geteuid() {
		return fmt.Errorf("the folder belongs to %s: name one of your own, or one that is not there yet", userName(own.Uid))
	}
	if st.Mode().Perm()&0o002 != 0 || st.Mode().Perm()&0o020 != 0 && int(own.Gid) != os.Getegid() {
		return fmt.Errorf("others may write to the folder: chmod go-w %s, or name one that is not there yet", f.name)
	}
	return nil
}

func userName(uid uint32) string {
	id := strconv.Itoa(int(uid))
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "user " + id
}

// Path leads to the folder itself and not to what has its name by now. Where there is no /proc it
// is the name.
func (f *Folder) Path() string {
	path := fmt.Sprintf("/proc/self/fd/%d", f.file.Fd())
	if there, err := os.Stat(path); err == nil {
		if st, err := f.file.Stat(); err == nil && os.SameFile(st, there) {
			return path
		}
	}
	return f.name
}

// Close lets go of the folder. Its Path leads nowhere then.
func (f *Folder) Close() error { return f.file.Close() }
