package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"snag/internal/sorting"
	"snag/remedies/journal"
	"snag/remedies/plan"
)

// Entry is one plan that was carried out.
type Entry struct {
	ID    string // its folder's name
	Dir   string
	Plan  *plan.Plan
	State State
	// Damage says what is wrong with its journal; State is what of it can be trusted.
	Damage error
	// Unchecked tells of a journal of an older snag, which has no checksums.
	Unchecked bool
}

// planFile is the plan as it was accepted, in its folder.
const planFile = "plan.yaml"

// All are the plans that were carried out, in the order in which they began.
func (s *Store) All() ([]Entry, error) {
	dirs, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = checkFolder(s.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("list the plans: %w", err)
	}
	var all []Entry
	for _, d := range dirs {
		if d.IsDir() && s.isPlan(d.Name()) {
			all = append(all, s.entry(d.Name()))
		}
	}
	sorting.StableBy(all, byBeginning)
	return all, nil
}

var planName = regexp.MustCompile(`^\d{8}-\d{6}\.\d{6}$`)

// isPlan reports whether a folder of the store is of a plan: by its name, or, where that
// was changed, by what it holds. A file system's lost+found is none.
func (s *Store) isPlan(name string) bool {
	if strings.HasSuffix(name, stagedSuffix) {
		return false
	}
	for _, file := range []string{journal.Name, planFile} {
		if _, err := os.Lstat(filepath.Join(s.Dir, name, file)); err == nil {
			return true
		}
	}
	return planName.MatchString(name)
}

// byBeginning goes by the number in the store. Those of older snags have none, and came
// before; they are in the order of their names.
func byBeginning(a, b Entry) int {
	if a.State.Serial != b.State.Serial {
		if a.State.Serial < b.State.Serial {
			return -1
		}
		return 1
	}
	return strings.Compare(a.ID, b.ID)
}

func (s *Store) entry(id string) Entry {
	e := Entry{ID: id, Dir: filepath.Join(s.Dir, id)}
	if e.Damage = checkFolder(e.Dir); e.Damage != nil {
		return e
	}
	content, err := journal.Read(e.Dir)
	if err != nil {
		e.Damage = err
		return e
	}
	s.fill(&e, content)
	return e
}

// fill has an entry tell what a journal's content tells, with the plan beside it.
func (s *Store) fill(e *Entry, content journal.Content) {
	e.State, e.Unchecked, e.Damage, e.Plan = StateOf(content.Records), content.Format == 1, nil, nil
	p, sum := readPlan(e.Dir)
	if p != nil && (e.State.PlanSum == "" || e.State.PlanSum == sum) {
		e.Plan = p
	}
	if content.Damage != nil {
		e.Damage = content.Damage
		e.State.fromPlan(e.Plan)
	}
	if wrong := contradictions(e.State, e.Plan, s.Kinds); wrong != nil {
		e.Damage = errors.Join(e.Damage, wrong)
	}
	if e.Damage == nil && e.State.Damaged != "" {
		e.Damage = errors.New(e.State.Damaged)
	}
}

// readPlan reads the plan of a folder, and the checksum of its file.
func readPlan(dir string) (*plan.Plan, string) {
	f, err := journal.OpenFile(filepath.Join(dir, planFile), os.O_RDONLY)
	if err != nil {
		return nil, ""
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, 2<<20))
	if err != nil {
		return nil, ""
	}
	p, err := plan.Parse(text)
	if err != nil {
		return nil, ""
	}
	sum := sha256.Sum256(text)
	return p, hex.EncodeToString(sum[:])
}

// waits says why a plan keeps others from beginning; nil: it does not.
func (s *Store) waits(e Entry) error {
	switch {
	case e.Damage != nil && e.State.Phase != Undone:
		return fmt.Errorf("what plan %s did is not known for sure: %w; snag tune undo %s puts back what is certain. After a look at the settings by hand, remove its folder %s", e.ID, e.Damage, e.ID, e.Dir)
	case e.State.Open() && !e.State.Settled() && e.State.Boot == s.Boot:
		return fmt.Errorf("plan %s is not confirmed yet (%s): snag tune confirm %s, or snag tune undo %s, first", e.ID, e.State.Phase, e.ID, e.ID)
	}
	return nil
}

// Find finds a plan by its ID. "" is the one that waits for somebody, else the one that
// began last, by its number in the store. Its name is a time, and a clock may be wrong.
func (s *Store) Find(id string) (Entry, error) {
	if id != "" {
		if st, err := os.Lstat(filepath.Join(s.Dir, id)); err != nil || !st.IsDir() || filepath.Base(id) != id || id == ".." || !s.isPlan(id) {
			return Entry{}, fmt.Errorf("there is no plan %s in %s: snag tune status lists them", id, s.Dir)
		}
		return s.entry(id), checkFolder(s.Dir)
	}
	all, err := s.All()
	if err != nil {
		return Entry{}, err
	}
	if len(all) == 0 {
		return Entry{}, errNone(s.Dir)
	}
	var open []string
	found := all[len(all)-1]
	for _, e := range all {
		if s.waits(e) != nil {
			open = append(open, e.ID)
			found = e
		}
	}
	if len(open) > 1 {
		return Entry{}, fmt.Errorf("%d plans wait (%s): name the one that is meant", len(open), strings.Join(open, ", "))
	}
	return found, nil
}

func errNone(dir string) error {
	return fmt.Errorf("no plan was carried out on this host (none in %s)", dir)
}
