// Package persist keeps a plan's files on a host's disk so that they hold after a
// reboot, and takes them away again. It touches no file that is not snag's.
package persist

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"snag/remedies/export"
)

// File is a file, or a link where Link is not empty.
type File struct {
	Path string // as /etc/sysctl.d/90-snag-x.conf
	Text string
	Link string // what it points to
}

// Sum is by which a file is known to be as it was written: SHA-256 in hexadecimal.
func (f File) Sum() string {
	text := f.Text
	if f.Link != "" {
		text = "-> " + f.Link
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Disk is where the files are kept: the host's, or a folder of a test's.
type Disk struct{ Root string }

// Folders are all that files are written below.
var Folders = []string{"/etc/sysctl.d", "/etc/modules-load.d", "/etc/systemd/network", "/etc/systemd/system", "/etc/snag/tune"}

// maxFile bounds what is read of a file that is there already.
const maxFile = 1 << 20

// place is where a file is on this disk. Nothing outside of Folders is touched,
// whatever a name in a plan holds.
func (d Disk) place(path string) (string, error) {
	if filepath.Clean(path) != path {
		return "", fmt.Errorf("%q is not a place for a file of snag's", path)
	}
	for _, f := range Folders {
		if strings.HasPrefix(path, f+"/") && strings.Contains(path[len(f):], "snag") || strings.HasPrefix(path, "/etc/snag/tune/") {
			return d.at(path), nil
		}
	}
	return "", fmt.Errorf("%q is not a place for a file of snag's: it writes below %s", path, strings.Join(Folders, ", "))
}

// at is a path of the host's on this disk.
func (d Disk) at(path string) string {
	if d.Root == "" {
		return path
	}
	return filepath.Join(d.Root, path)
}

// Check reports whether a file may be written: nobody else's is there.
func (d Disk) Check(f File) error {
	if _, err := d.there(f); err != nil {
		return err
	}
	if filepath.Ext(f.Path) == ".link" {
		return d.onlyLink(f)
	}
	return nil
}

// onlyLink reports whether no other plan has a .link file for the same interface: only
// the first that matches is read.
func (d Disk) onlyLink(f File) error {
	dir := filepath.Dir(f.Path)
	entries, err := os.ReadDir(d.at(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list %s: %w", dir, bare(err))
	}
	for _, e := range entries {
		if e.Name() == filepath.Base(f.Path) || filepath.Ext(e.Name()) != ".link" || !strings.Contains(e.Name(), "-snag-") {
			continue
		}
		other, err := look(d.at(filepath.Join(dir, e.Name())))
		if err == nil && matchOf(other.Text) == matchOf(f.Text) {
			return fmt.Errorf("%s of another plan matches the same interface, and only one .link file is read: take that plan back first, or persist --as unit", filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

// matchOf is a .link file's [Match] section.
func matchOf(text string) string {
	_, rest, _ := strings.Cut(text, "\n[Match]\n")
	match, _, _ := strings.Cut(rest, "\n[")
	return strings.TrimSpace(match)
}

// there reports whether the very file is there already.
func (d Disk) there(f File) (bool, error) {
	path, err := d.place(f.Path)
	if err != nil {
		return false, err
	}
	now, err := look(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case now.Sum() == f.Sum():
		return true, nil
	case now.Link == "" && strings.HasPrefix(now.Text, export.Mark):
		return false, fmt.Errorf("%s is there from another plan of snag's: take that back first (snag tune status names it), or give this one another --name", f.Path)
	}
	return false, fmt.Errorf("%s is there, and it is not snag's: move it away, or give the plan another --name", f.Path)
}

// look reads what is at a path.
func look(path string) (File, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return File{}, err
	}
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return File{Path: path, Link: to}, err
	case !st.Mode().IsRegular() || st.Size() > maxFile:
		return File{Path: path}, nil // no file of ours
	}
	b, err := os.ReadFile(path)
	return File{Path: path, Text: string(b)}, err
}

// Write puts a file on disk whole, or not at all: its bytes and its name are synced
// when it returns. It never takes another file's place.
func (d Disk) Write(f File) error {
	there, err := d.there(f)
	if err != nil {
		return err
	}
	path, _ := d.place(f.Path)
	dir := filepath.Dir(path)
	if !there {
		if err := makeFolders(dir); err != nil {
			return fmt.Errorf("make the folder of %s: %w%s", f.Path, bare(err), cure(err))
		}
		if err := put(path, f); err != nil {
			return fmt.Errorf("write %s: %w%s", f.Path, bare(err), cure(err))
		}
	}
	if err := syncFolder(dir); err != nil {
		return fmt.Errorf("sync the folder of %s: %w", f.Path, bare(err))
	}
	return nil
}

// newEnd is of a file that is being written: no tool reads one of that name.
const newEnd = ".snag-new"

func put(path string, f File) error {
	if f.Link != "" {
		return os.Symlink(f.Link, path)
	}
	tmp := path + newEnd
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = w.WriteString(f.Text)
	if err == nil {
		err = w.Chmod(0o644) // whatever the umask
	}
	if err == nil {
		err = w.Sync()
	}
	if c := w.Close(); err == nil {
		err = c
	}
	if err == nil {
		err = os.Link(tmp, path) // fails where another came meanwhile; a rename would not
	}
	if e := os.Remove(tmp); err == nil {
		err = e
	}
	return err
}

// makeFolders makes a folder and those above it, and syncs each name.
func makeFolders(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := makeFolders(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(filepath.Dir(dir))
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return f.Sync()
}

// ErrChanged is of a file that is not as snag wrote it.
var ErrChanged = errors.New("another changed it since: it is left")

// since says when a file was changed last, and by whose hand as far as it tells.
func since(at string) string {
	st, err := os.Lstat(at)
	if err != nil {
		return ""
	}
	by := ""
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		by = fmt.Sprintf(", of uid %d", sys.Uid)
	}
	return " (last written " + st.ModTime().Format(time.DateTime) + by + ")"
}

// Remove takes a file away if it is as it was written. One that is gone is no error.
func (d Disk) Remove(path, sum string) error {
	at, err := d.place(path)
	if err != nil {
		return err
	}
	// What a kill left while it was being written.
	if err := os.Remove(at + newEnd); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotFolder) {
		return fmt.Errorf("remove %s: %w%s", path+newEnd, bare(err), cure(err))
	}
	now, err := look(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at %s: %w", path, bare(err))
	case now.Sum() != sum:
		return fmt.Errorf("%s%s: %w", path, since(at), ErrChanged)
	}
	if err := os.Remove(at); err != nil {
		return fmt.Errorf("remove %s: %w%s", path, bare(err), cure(err))
	}
	dir := filepath.Dir(at)
	if err := syncFolder(dir); err != nil {
		return fmt.Errorf("sync the folder of %s: %w", path, bare(err))
	}
	// A folder that is only for such files, and empty now.
	if strings.HasSuffix(dir, ".d") || strings.HasSuffix(dir, ".wants") || strings.HasSuffix(dir, "/etc/snag/tune") {
		if !strings.HasSuffix(dir, "/etc/sysctl.d") && !strings.HasSuffix(dir, "/etc/modules-load.d") {
			_ = os.Remove(dir)
		}
	}
	return nil
}
