package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"golang.org/x/time/rate"

	"snag/internal/private"
)

// folder is a store that is a folder, as an NFS mount. Files are written beside, and renamed. Links that lead out of it
// are not followed: others may write there too.
type folder struct {
	dir  string
	pace *rate.Limiter
}

func (f folder) String() string { return "file://" + f.dir }

// Put implements Store.
func (f folder) Put(ctx context.Context, name string, r io.ReadSeeker, size int64) error {
	return f.in("write "+name, func(root *os.Root) error {
		dir, base := path.Split(name)
		if err := root.MkdirAll(path.Clean(dir), private.FolderMode()); err != nil {
			return err
		}
		if err := removeLeft(root, dir, base); err != nil {
			return err
		}
		tmp := path.Join(dir, leftOf(base)+rand.Text())
		err := writeNew(root, tmp, paced{ctx, r, f.pace}, size)
		if err == nil {
			err = root.Rename(tmp, name)
		}
		if err != nil {
			return errors.Join(err, ignoreAbsent(root.Remove(tmp)))
		}
		return nil
	})
}

func writeNew(root *os.Root, name string, r io.Reader, size int64) error {
	w, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, private.FileMode())
	if err != nil {
		return err
	}
	n, err := io.Copy(w, r)
	if err == nil && n != size {
		err = fmt.Errorf("it has %d bytes and not %d: it was changed meanwhile", n, size)
	}
	return errors.Join(err, w.Sync(), w.Close())
}

// leftOf begins the names of files that are not whole yet.
func leftOf(base string) string { return "." + base + "." }

// removeLeft removes what a recorder that was killed left of a file.
func removeLeft(root *os.Root, dir, base string) error {
	d, err := root.Open(path.Clean(dir))
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	for _, name := range names {
		if strings.HasPrefix(name, leftOf(base)) {
			err = errors.Join(err, ignoreAbsent(root.Remove(path.Join(dir, name))))
		}
	}
	return err
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Get implements Store.
func (f folder) Get(_ context.Context, name string) (out io.ReadCloser, err error) {
	err = f.in("read "+name, func(root *os.Root) error {
		file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		if st, err := file.Stat(); err != nil || !st.Mode().IsRegular() {
			return errors.Join(errors.New("not a file"), err, file.Close())
		}
		out = file
		return nil
	})
	return out, err
}

// List implements Store.
func (f folder) List(ctx context.Context, prefix string, each func(name string) bool) error {
	return f.in("list the incidents", func(root *os.Root) error {
		from := path.Clean(prefix)
		err := fs.WalkDir(root.FS(), from, func(name string, e fs.DirEntry, err error) error {
			switch {
			case name == from && errors.Is(err, fs.ErrNotExist) && prefix != "":
				return fs.SkipAll // nothing was sent of that host
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case e.IsDir() && name != "." && strings.HasPrefix(e.Name(), "."):
				return fs.SkipDir // lost+found's like: not ours
			case e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") && !each(name):
				return fs.SkipAll
			}
			return nil
		})
		return err
	})
}

// in does something in the folder, which must be there: where a mount is missing, nothing is to be written.
func (f folder) in(doing string, do func(*os.Root) error) error {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		failed := f.failed(doing, err)
		if errors.Is(err, fs.ErrNotExist) {
			failed.Code, failed.Cure, failed.Err = "NoFolder", "make the folder, or mount it", nil // no file is absent
		}
		return failed
	}
	defer root.Close()
	if err := do(root); err != nil {
		return f.failed(doing, err)
	}
	return nil
}

// folderCures are what to do about errors of a file system.
var folderCures = []struct {
	is         error
	code, cure string
}{
	{syscall.ENOSPC, "Full", "make room there"},
	{syscall.EDQUOT, "Full", "make room there, or raise the quota"},
	{syscall.EROFS, "ReadOnly", "mount it writable; under systemd add ReadWritePaths= with this folder (systemctl edit snag-record)"},
	{fs.ErrPermission, "Permission", "let this user write there; NFS takes root for nobody unless it is exported with no_root_squash"},
	{syscall.ESTALE, "Stale", "mount it again"},
}

func (f folder) failed(doing string, err error) *Failed {
	out := &Failed{Store: f.String(), Doing: doing, Why: err.Error(), Code: "Folder", Err: err}
	for _, c := range folderCures {
		if errors.Is(err, c.is) {
			out.Code, out.Cure = c.code, c.cure
			break
		}
	}
	return out
}
