package drawn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"snag/recording"
)

// Folder holds the runs of draws: KEY.snag, the packed recording, and KEY.json. Runs that
// gave no recording have KEY.json only; when such a run is made again, the note of the one
// that failed stays as KEY.failed1 and so on. A run that gave a recording is never made
// again.
type Folder string

func (f Folder) path(key, ending string) string { return filepath.Join(string(f), key+ending) }

// Recording is the file of a run's recording.
func (f Folder) Recording(key string) string { return f.path(key, ".snag") }

// Keep packs the recording in dir and notes what is known of its run.
func (f Folder) Keep(dir string, k Kept) error {
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return fmt.Errorf("keep the run %s: %w", k.Key, err)
	}
	if k.Error == "" {
		if err := recording.PackFile(dir, f.Recording(k.Key)); err != nil {
			return err
		}
	}
	raw, err := json.MarshalIndent(k, "", " ")
	if err != nil {
		return err
	}
	// A run that failed is kept beside the one that is made in its place.
	note := f.path(k.Key, ".json")
	for n := 1; ; n++ {
		if _, err := os.Stat(note); errors.Is(err, fs.ErrNotExist) {
			break
		}
		old := f.path(k.Key, fmt.Sprintf(".failed%d", n))
		if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) {
			if err := os.Rename(note, old); err != nil {
				return fmt.Errorf("keep the failed run %s: %w", k.Key, err)
			}
		}
	}
	tmp := note + ".tmp"
	if err := os.WriteFile(tmp, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("note the run %s: %w", k.Key, err)
	}
	return os.Rename(tmp, note)
}

// Note reads what is known of a run; fs.ErrNotExist: it was never made.
func (f Folder) Note(key string) (Kept, error) {
	raw, err := os.ReadFile(f.path(key, ".json"))
	if err != nil {
		return Kept{}, err
	}
	var k Kept
	if err := json.Unmarshal(raw, &k); err != nil {
		return k, fmt.Errorf("read %s: %w: remove it to make the run again", f.path(key, ".json"), err)
	}
	return k, nil
}

// Has reports whether a run was made; with failed also one that gave no recording.
func (f Folder) Has(key string, failed bool) bool {
	k, err := f.Note(key)
	return err == nil && (failed || k.Error == "")
}

// All lists what is known of every run, by key.
func (f Folder) All() ([]Kept, error) {
	names, err := filepath.Glob(f.path("*", ".json"))
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var out []Kept
	for _, name := range names {
		k, err := f.Note(strings.TrimSuffix(filepath.Base(name), ".json"))
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// Merge copies the runs of another folder that this one has not.
func (f Folder) Merge(other Folder) (copied int, err error) {
	all, err := other.All()
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		return 0, fmt.Errorf("merge %s: it has no run of a draw", other)
	}
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return 0, fmt.Errorf("merge into %s: %w", f, err)
	}
	for _, k := range all {
		if f.Has(k.Key, false) || k.Error != "" && f.Has(k.Key, true) {
			continue
		}
		endings := []string{".snag", ".json"} // the note last: it says that the run is whole
		if k.Error != "" {
			endings = endings[1:]
		}
		for _, e := range endings {
			if err := copyFile(other.path(k.Key, e), f.path(k.Key, e)); err != nil {
				return copied, fmt.Errorf("merge %s: %w", other, err)
			}
		}
		copied++
	}
	return copied, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
