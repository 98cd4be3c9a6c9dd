// Package journal is what was done to a host, on disk before it is done: a file of
// JSON lines, each synced before Append returns. Whoever comes after a kill, a crash
// or a full disk reads there what may have been changed, and to what it was before.
//
// The file, in format 2: a first line of fixed length that counts the records, then a
// line for each record with its number, the checksum of the record before it and its own.
// The rest of the file is blank lines: room that is reserved for a complete undo. A
// record is written and synced, then the first line counts it, and only then Append
// returns and the caller acts. So:
//   - up to the count every record must be there: what is missing, changed or out of its
//     place is damage, and what a damaged line said is never used;
//   - what is not whole beyond the count was being written at a kill or a crash. Nobody
//     acted on it, and the next record takes its place.
//
// Format 1, of older snags, has one record a line and no checksums. It is read and
// continued as it was, and Content.Format reports that nothing in it was checked.
package journal

import (
	"time"

	"snag/remedies/plan"
)

// Step is what a record tells.
type Step string

// The steps, in the order of a life.
const (
	Begun     Step = "begun"     // Boot, Deadline, DeadlineBoot, Serial, Sum: of the plan's file
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
	Damaged     Step = "damaged"    // Why: what was wrong with this journal when it was read
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
	Sum   string   `json:"sum,omitempty"` // SHA-256 of File as it was written, or of the plan
	Boot  string   `json:"boot,omitempty"`
	// Deadline is when all is undone if nobody confirmed, by the wall clock: to be shown.
	Deadline time.Time `json:"deadline,omitzero"`
	// DeadlineBoot is the same as nanoseconds since the boot (CLOCK_BOOTTIME), which no
	// clock step moves: what counts. 0 in format 1.
	DeadlineBoot int64 `json:"deadline_boot,omitempty"`
	// Serial is the plan's number in its store: the later one has the higher number,
	// whatever the clock says.
	Serial uint64 `json:"serial,omitempty"`
	// Netns is the inode of the network namespace that Target names: another may get its
	// name or its process's number.
	Netns uint64 `json:"netns,omitempty"`
	// Exact is the old state as the kernel reported it, where Old can't hold all of it.
	Exact string `json:"exact,omitempty"`
}
