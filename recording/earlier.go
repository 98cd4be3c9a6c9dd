package recording

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// EarlierFiles lists the recordings of earlier times that were kept beside a recording: the files of the
// folder DIR.earlier. No folder means none.
func EarlierFiles(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(earlierDir(dir), "*.snag"))
	if err != nil { // a name with brackets
		return nil, fmt.Errorf("list the earlier times beside %s: %w", dir, err)
	}
	slices.Sort(files)
	return files, nil
}

func earlierDir(dir string) string { return strings.TrimRight(dir, "/") + ".earlier" }

// KeepEarlier writes the recordings of earlier times beside a recording, and removes those that were
// there.
func KeepEarlier(dir string, mode os.FileMode, all []*Recording) error {
	to := earlierDir(dir)
	old, err := EarlierFiles(dir)
	for _, file := range old {
		err = errors.Join(err, os.Remove(file))
	}
	if len(all) > 0 && err == nil {
		err = os.MkdirAll(to, mode)
	}
	for i, r := range all {
		if err == nil {
			err = r.PackTo(filepath.Join(to, fmt.Sprintf("%d.snag", i+1)))
		}
	}
	if err != nil {
		return fmt.Errorf("keep the earlier times beside %s: %w", dir, err)
	}
	return nil
}

// Move renames a packed recording, and what is kept beside it.
func Move(from, to string) error {
	if err := os.RemoveAll(earlierDir(to)); err != nil {
		return fmt.Errorf("move %s: %w", from, err)
	}
	if err := os.Rename(earlierDir(from), earlierDir(to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("move %s: %w", from, err)
	}
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("move %s: %w", from, err)
	}
	return nil
}

// Remove removes a recording, and what is kept beside it.
func Remove(dir string) error { return errors.Join(os.RemoveAll(dir), os.RemoveAll(earlierDir(dir))) }
