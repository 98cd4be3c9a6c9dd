package score

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"snag/lab"
	"snag/recording"
)

// Folder holds the recordings of a score: KEY.snag, packed, KEY-baseline.snag where
// find compared it with another, and KEY.json, what is known of the run besides. A run without a verdict has KEY.json
// only.
type Folder string

// Kept is what is known of a run besides its recording.
type Kept struct {
	Key     string    `json:"key"`
	Made    time.Time `json:"made"`
	Machine Machine   `json:"machine"`
	// For is the length asked for, Seconds from the start of the incident to the
	// verdict, FindSeconds from the start of snag find.
	For         float64 `json:"for_seconds"`
	Seconds     float64 `json:"seconds"`
	FindSeconds float64 `json:"find_seconds"`
	// Namespaces of the incident and of the lab itself. Where OnlyThese is set, what
	// snag found in others is not the incident's: others made some beside it.
	Namespaces []uint64 `json:"namespaces,omitempty"`
	OnlyThese  bool     `json:"only_these,omitempty"`
	// Stolen is how much of the CPU time that was asked for the hypervisor gave to others, by
	// the lab's own look, 0 to 1.
	Stolen float64 `json:"stolen,omitempty"`
	// Error is why there is no recording.
	Error string `json:"error,omitempty"`
}

// Machine is where a run was made.
type Machine struct {
	Kernel string `json:"kernel"`
	CPUs   int    `json:"cpus"`
}

// Recording is the file of a case's recording.
func (f Folder) Recording(key string) string { return filepath.Join(string(f), key+".snag") }

func (f Folder) baseline(key string) string { return f.Recording(key + "-baseline") }

func (f Folder) note(key string) string { return filepath.Join(string(f), key+".json") }

// Has reports whether a run is done and need not be made again: it is noted only
// once its recording is whole. One that gave no verdict is to be tried again.
func (f Folder) Has(key string) bool {
	k, err := f.Note(key)
	if err != nil || k.Error != "" {
		return false
	}
	_, err = os.Stat(f.Recording(key))
	return err == nil
}

// Keep packs a recording and notes what is known of its run.
func (f Folder) Keep(dir string, k Kept) error {
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return fmt.Errorf("keep the recording of %s: %w", k.Key, err)
	}
	// An old note must not stand beside a new recording.
	if err := os.Remove(f.note(k.Key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the recording of %s: %w", k.Key, err)
	}
	if k.Error == "" {
		if err := recording.PackFile(dir, f.Recording(k.Key)); err != nil {
			return err
		}
		if other := lab.BaselineOf(dir); exists(other) {
			if err := recording.PackFile(other, f.baseline(k.Key)); err != nil {
				return err
			}
		}
	}
	raw, err := json.MarshalIndent(k, "", " ")
	if err != nil {
		return err
	}
	tmp := f.note(k.Key) + ".tmp"
	if err := os.WriteFile(tmp, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("note the run of %s: %w", k.Key, err)
	}
	return os.Rename(tmp, f.note(k.Key))
}

// Aside keeps a run as KEY.tryN beside the next one, so that no retry overwrites what
// it is a retry of.
func (f Folder) Aside(key string) error {
	try := 1
	for exists(f.note(fmt.Sprintf("%s.try%d", key, try))) {
		try++
	}
	as := fmt.Sprintf("%s.try%d", key, try)
	for from, to := range map[string]string{
		f.Recording(key): f.Recording(as),
		f.baseline(key):  f.baseline(as),
		f.note(key):      f.note(as),
	} {
		if err := os.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("keep the first try of %s: %w", key, err)
		}
	}
	return nil
}

// Note reads what is known of a run.
func (f Folder) Note(key string) (Kept, error) {
	raw, err := os.ReadFile(f.note(key))
	if err != nil {
		return Kept{}, err
	}
	var k Kept
	if err := json.Unmarshal(raw, &k); err != nil {
		return Kept{}, fmt.Errorf("read %s: %w: remove it to make the run again", f.note(key), err)
	}
	return k, nil
}

// Load returns what is known of a run and its recording. fs.ErrNotExist: the run
// was never made. A recording without a note is taken as it is: lab/recordings.
func (f Folder) Load(key string) (Kept, *recording.Recording, error) {
	k, err := f.Note(key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k = Kept{Key: key}
		if _, err := os.Stat(f.Recording(key)); err != nil {
			return k, nil, err
		}
	case err != nil:
		return k, nil, err
	case k.Error != "":
		return k, nil, nil
	}
	r, err := recording.Open(f.Recording(key))
	if err == nil && exists(f.baseline(key)) {
		r.Baseline, err = recording.Open(f.baseline(key))
	}
	return k, r, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Here is the set of Namespaces, nil where all count.
func (k Kept) Here() map[uint64]bool {
	if !k.OnlyThese {
		return nil
	}
	out := map[uint64]bool{}
	for _, id := range k.Namespaces {
		out[id] = true
	}
	return out
}

// Sorted lists the namespaces of a set.
func Sorted(set map[uint64]bool) []uint64 {
	var out []uint64
	for id := range set {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}
