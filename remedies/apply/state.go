package apply

import (
	"slices"
	"time"

	"snag/remedies/journal"
	"snag/remedies/plan"
)

// Phase is how far a plan has come.
type Phase string

// The phases.
const (
	Nothing     Phase = "nothing"     // no change was begun
	Half        Phase = "half"        // some changes are made, and nobody is at it
	Unconfirmed Phase = "unconfirmed" // all changes are made and wait for confirm
	Trying      Phase = "trying"      // settings are switched to and fro, and come back at its end
	Kept        Phase = "kept"        // confirmed
	HalfUndone  Phase = "half-undone" // an undo was begun and did not end
	Undone      Phase = "undone"
)

// Made is one change that may have been made.
type Made struct {
	ID       string
	Target   plan.Target
	Old, New string
	Also     []string // other values that it may have been set to
	Now      string   // as the kernel had it afterwards; "" where that was not seen
	Exact    string   // the old state as the kernel reported it, where Old can't hold it
	Netns    uint64   // the inode of Target's network namespace
	// FromPlan reports that the journal's own record is lost: the values are those of the
	// plan beside it, whose checksum holds.
	FromPlan bool
	// Doubt is why Old may be wrong: then it is not used.
	Doubt   string
	Undone  bool
	Ended   string // that what had the setting ended, and the setting with it
	Problem string // why it could not be undone
}

// State is what a journal tells, read anew each time: nothing else is kept.
type State struct {
	Phase    Phase
	Boot     string
	Begun    time.Time
	Deadline time.Time // by the wall clock
	// DeadlineBoot is the same since the boot, which counts; 0 in an old journal.
	DeadlineBoot time.Duration
	Serial       uint64 // in the store: the last one that began has the highest
	PlanSum      string // SHA-256 of the plan's file
	By           string // who undoes it if nobody confirms
	Changes      []Made // in the order of their making
	Files        []File // written to outlast a reboot, and not removed
	// Persisted reports that files were begun to be written: after a boot too the host
	// may run with the plan's values.
	Persisted bool
	Why       string // it was undone
	Failure   string // what kept it from being made
	Damaged   string // what was wrong with the journal when somebody went on with it
	// Unknown reports that changes may have been made that are not among Changes.
	Unknown bool
	// Verified are the looks at whether it helped, in order of time.
	Verified []Verified
}

// Verified is one look at whether the changes helped.
type Verified struct {
	At      time.Time
	Outcome string // gone, reduced, unchanged, worse, too early, can't tell
	Text    string
	Dir     string // the recording that told
}

// File was written to outlast a reboot.
type File struct {
	Path, Sum string
	Half      bool // its writing was begun, and is not known to have ended
}

// StateOf folds a journal.
func StateOf(all []journal.Record) State {
	s := State{Phase: Nothing}
	for _, r := range all {
		switch r.Step {
		case journal.Begun:
			s.Boot, s.Begun, s.Deadline, s.DeadlineBoot = r.Boot, r.At, r.Deadline, time.Duration(r.DeadlineBoot)
			s.Serial, s.PlanSum = r.Serial, r.Sum
		case journal.Armed:
			s.By = r.By
		case journal.Trying:
			s.Phase = Trying
		case journal.Will:
			if s.Phase != Trying {
				s.Phase = Half
			}
			s.Changes = append(s.Changes, Made{ID: r.Change, Target: *r.Target, Old: r.Old, New: r.New, Also: r.Also, Exact: r.Exact, Netns: r.Netns})
		case journal.Did:
			s.change(r.Change).Now = r.Now
		case journal.Failed:
			s.Failure = r.Error
		case journal.Applied:
			s.Phase = Unconfirmed
		case journal.Confirmed:
			s.Phase = Kept
		case journal.Verified:
			s.Verified = append(s.Verified, Verified{At: r.At, Outcome: r.Now, Text: r.Why, Dir: r.File})
		case journal.WillPersist, journal.Persisted:
			s.Persisted = true
			s.without(r.File)
			s.Files = append(s.Files, File{r.File, r.Sum, r.Step == journal.WillPersist})
		case journal.Removed:
			s.without(r.File)
		case journal.Damaged:
			s.Damaged = r.Why
		case journal.Undoing:
			s.Phase, s.Why = HalfUndone, r.Why
		case journal.Undid:
			c := s.change(r.Change)
			c.Undone, c.Ended, c.Problem = true, r.Why, ""
		case journal.NotUndone:
			s.change(r.Change).Problem = r.Error
		case journal.Undone:
			s.Phase = Undone
		}
	}
	return s
}

func (s *State) without(path string) {
	s.Files = slices.DeleteFunc(s.Files, func(f File) bool { return f.Path == path })
}

// change finds the change of a record; a journal that names one that it never began
// is not of this program, and gets one that stands for nothing.
func (s *State) change(id string) *Made {
	for i := range s.Changes {
		if s.Changes[i].ID == id {
			return &s.Changes[i]
		}
	}
	return &Made{}
}

// Open reports whether the plan still waits for somebody: then no other may begin.
func (s *State) Open() bool {
	return s.Phase == Half || s.Phase == Unconfirmed || s.Phase == Trying || s.Phase == HalfUndone
}

// Settled reports that an undo came to its end: each change is undone, or it was said why
// it can't be (its interface is gone, another has set it since). Then nobody waits, and
// another plan may begin.
func (s *State) Settled() bool {
	if s.Phase != HalfUndone {
		return false
	}
	for _, c := range s.Changes {
		if !c.Undone && c.Problem == "" {
			return false
		}
	}
	return true
}

// Problems are the changes that could not be undone.
func (s *State) Problems() (all []Made) {
	for _, c := range s.Changes {
		if c.Problem != "" && !c.Undone {
			all = append(all, c)
		}
	}
	return all
}

// Ended are the changes whose process ended before they were undone.
func (s State) Ended() []Made {
	var all []Made
	for _, c := range s.Changes {
		if c.Ended != "" {
			all = append(all, c)
		}
	}
	return all
}
