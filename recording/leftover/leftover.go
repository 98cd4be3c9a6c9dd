// Package leftover finds and removes recordings that runs of snag left in the temporary directory: those that snag
// find keeps there without --out, those of earlier times beside them, and the working copies of runs that were killed.
//
// It removes nothing else. A folder goes only if its name is one that snag makes, all of it belongs to the caller, it
// holds nothing but what snag writes into a recording, and nobody writes to it.
package leftover

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Leftover is a folder in the temporary directory that has a name of snag's.
type Leftover struct {
	Path  string
	Age   time.Duration // since something in it was written last
	Bytes int64         // of its files
	Stays string        // why it must not be removed; "" if it may be
}

// BusyError reports that a recording is being written.
type BusyError struct{ Path string }

func (e *BusyError) Error() string { return fmt.Sprintf("%s is being written now", e.Path) }

// made are the names that snag gives to folders: those of find and read (private.New), with the folder of earlier
// times beside them, and those of runs that remove them when they end.
var made = regexp.MustCompile(`^snag-(\d{8}-\d{6}-\d+(\.earlier)?|(read|copy|audit|syscalls|watch-host)-\d+)$`)

// In lists the leftovers in a folder, by name. Links and files with such names are none.
func In(dir string, now time.Time) ([]Leftover, error) {
	parent, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("look for recordings in %s: %w", dir, err)
	}
	defer parent.Close()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look for recordings in %s: %w", dir, err)
	}
	var out []Leftover
	for _, e := range entries {
		if !made.MatchString(e.Name()) || !e.IsDir() {
			continue
		}
		x, err := examine(parent, e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went away meanwhile
		}
		l := Leftover{Path: filepath.Join(dir, e.Name()), Age: max(0, now.Sub(x.newest)), Bytes: x.bytes, Stays: x.stays}
		if err != nil {
			l.Stays = err.Error()
		}
		x.unlock()
		out = append(out, l)
	}
	return out, nil
}

// Remove removes one, unless something speaks against it by now. Links in it are removed, not what they lead to.
func Remove(l Leftover) error {
	parent, err := os.OpenRoot(filepath.Dir(l.Path))
	if err != nil {
		return fmt.Errorf("remove %s: %w", l.Path, err)
	}
	defer parent.Close()
	name := filepath.Base(l.Path)
	if !made.MatchString(name) {
		return fmt.Errorf("remove %s: no run of snag made a folder of that name", l.Path)
	}
	x, err := examine(parent, name)
	if err != nil {
		return fmt.Errorf("remove %s: %w", l.Path, err)
	}
	defer x.unlock() // a writer that wants to begin there waits for nobody: it is refused
	if x.busy {
		return &BusyError{l.Path}
	}
	if x.stays != "" {
		return fmt.Errorf("remove %s: %s", l.Path, x.stays)
	}
	if err := parent.RemoveAll(name); err != nil {
		return fmt.Errorf("remove %s: %w", l.Path, err)
	}
	return nil
}
