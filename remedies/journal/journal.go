// Package journal is what was done to a host, on disk before it is done: a file of
// JSON lines, each synced before Append returns. Whoever comes after a kill, a crash
// or a full disk reads there what may have been changed, and to what it was before.
//
// A last line that is not whole was never acted on: Append writes, syncs, and only
// then does the caller act. Any other line that can't be read is an error: then it is
// not known what was done, and nothing may be guessed.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"snag/remedies/plan"
)

// Step is what a record tells.
type Step string

// The steps, in the order of a life.
const (
	Begun     Step = "begun"     // Boot, Plan, Deadline
	Armed     Step = "armed"     // By: who undoes all if nobody confirms
	Trying    Step = "trying"    // settings are switched to and fro until the end: nothing can be confirmed
	Will      Step = "will"      // Change, Target, Old, New: written before the setting is
	Did       Step = "did"       // Change, Now: as the kernel has it
	Failed    Step = "failed"    // Change, Error
	Applied   Step = "applied"   // all changes are made
	Confirmed Step = "confirmed" // by another invocation
	Verified  Step = "verified"  // Now: the outcome, Why: in words, File: the recording that told
	// WillPersist is written before the file is: File, Sum.
	WillPersist Step = "will-persist"
	Persisted   Step = "persisted"  // File, Sum: what was written to outlast a reboot
	Undoing     Step = "undoing"    // Why
	Undid       Step = "undid"      // Change, Now: the old value is back, or was
	NotUndone   Step = "not-undone" // Change, Now, Error: it is not
	Removed     Step = "removed"    // File; Error: it is left, for another changed it
	Undone      Step = "undone"     // the end
)

// Record is one line.
type Record struct {
	At     time.Time    `json:"at"`
	Step   Step         `json:"step"`
	Change string       `json:"change,omitempty"` // the id in the plan
	Target *plan.Target `json:"target,omitempty"`
	Old    string       `json:"old,omitempty"`
	New    string       `json:"new,omitempty"`
	Now    string       `json:"now,omitempty"`
	// Also are other values than New that it may have been set to.
	Also  []string `json:"also,omitempty"`
	Error string   `json:"error,omitempty"`
	Why   string   `json:"why,omitempty"`
	By    string   `json:"by,omitempty"`
	File  string   `json:"file,omitempty"`
	Sum   string   `json:"sum,omitempty"` // SHA-256 of File as it was written
	Boot  string   `json:"boot,omitempty"`
	// Deadline is when all is undone if nobody confirmed.
	Deadline time.Time `json:"deadline,omitzero"`
}

// Name is the journal's file in its folder.
const Name = "journal.jsonl"

// Journal is open for writing.
type Journal struct {
	f    *os.File
	path string
}

// Open opens a folder's journal, or makes it. A torn last line is cut off first.
func Open(dir string) (*Journal, []Record, error) {
	path := filepath.Join(dir, Name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the journal %s: %w", path, errors.Unwrap(err))
	}
	all, whole, err := read(path)
	if err == nil {
		if err = f.Truncate(whole); err == nil {
			_, err = f.Seek(whole, 0)
		}
	}
	if err == nil {
		err = syncDir(dir) // the file's name is on disk too
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, fmt.Errorf("open the journal %s: %w", path, err)
	}
	return &Journal{f, path}, all, nil
}

// Append puts a record on disk. After an error nothing may be done: it is not known
// whether the record is there.
func (j *Journal) Append(r Record) error {
	if r.At.IsZero() {
		r.At = time.Now()
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the journal %s: %w", j.path, err)
	}
	if _, err := j.f.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the journal %s: %w", j.path, errors.Unwrap(err))
	}
	if err := unix.Fdatasync(int(j.f.Fd())); err != nil {
		return fmt.Errorf("sync the journal %s: %w", j.path, err)
	}
	return nil
}

// Close ends the writing.
func (j *Journal) Close() error { return j.f.Close() }

// Read reads a folder's journal; a torn last line is left out.
func Read(dir string) ([]Record, error) {
	path := filepath.Join(dir, Name)
	all, _, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read the journal %s: %w", path, err)
	}
	return all, nil
}

// maxJournal bounds what is read: a plan has at most some hundred changes.
const maxJournal = 16 << 20

func read(path string) (all []Record, whole int64, err error) {
	st, err := os.Stat(path)
	if err == nil && st.Size() > maxJournal {
		return nil, 0, fmt.Errorf("it has %d bytes: it is no journal of snag's", st.Size())
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	if err != nil {
		return nil, 0, errors.Unwrap(err)
	}
	for n := 1; len(b) > 0; n++ {
		line, rest, ended := bytes.Cut(b, []byte{'\n'})
		if !ended {
			break // torn: nobody acted on it
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil || r.Step == "" {
			return nil, 0, fmt.Errorf("line %d is damaged: what was done is not known; look at the settings by hand, then remove the folder", n)
		}
		all = append(all, r)
		whole += int64(len(line)) + 1
		b = rest
	}
	return all, whole, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}
