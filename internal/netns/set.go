package netns

import (
	"cmp"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/sorting"
)

// Set follows the namespaces of a host as they come and go.
type Set struct {
	Proc     string
	NameDirs []string
	Own      uint64
	Shared   *Shared // with other sets of the same host; nil: it searches alone

	stale  bool
	known  map[uint64]Namespace
	dirs   map[string]time.Time
	hidden int
}

// Refresh searches again and returns what came and what went since the last
// time. The first call returns all as come.
func (s *Set) Refresh() (came, gone []Namespace, err error) {
	changed := s.dirsChanged() // what was found before would not have it
	found, err := s.Shared.List(s.Proc, s.NameDirs, s.Own, s.stale || changed)
	if err != nil {
		return nil, nil, err
	}
	s.hidden, s.stale = found.Hidden, false
	now := make(map[uint64]Namespace, len(found.All))
	for _, n := range found.All {
		if old, ok := s.known[n.ID]; !ok {
			came = append(came, n)
		} else if old.Name != "" && old.PID == n.PID {
			n.Name = old.Name // a name, once told, stays
		}
		now[n.ID] = n
	}
	for id, n := range s.known {
		if _, ok := now[id]; !ok {
			gone = append(gone, n)
		}
	}
	sorting.By(gone, func(a, b Namespace) int { return cmp.Compare(a.ID, b.ID) })
	s.known = now
	return came, gone, nil
}

// Stale tells cheaply whether Refresh would see something else: a namespace has
// lost the process or name that it is known by, or a name was added. Namespaces
// that come with a new process alone are seen by the next Refresh only.
func (s *Set) Stale() bool {
	s.stale = s.stale || s.changed()
	return s.stale
}

func (s *Set) changed() bool {
	for _, n := range s.known {
		if n.Own {
			continue
		}
		if !underProc(s.Proc, n.Path) {
			var st unix.Stat_t
			if unix.Stat(n.Path, &st) != nil || st.Ino != n.ID {
				return true
			}
			continue
		}
		if id, err := IDOf(n.Path); err != nil || id != n.ID {
			return true
		}
	}
	return s.dirsChanged()
}

func underProc(proc, path string) bool { return strings.HasPrefix(path, proc+"/") }

func (s *Set) dirsChanged() bool {
	changed := false
	if s.dirs == nil {
		s.dirs = map[string]time.Time{}
	}
	for _, d := range s.NameDirs {
		var mtime time.Time
		if st, err := os.Stat(d); err == nil {
			mtime = st.ModTime()
		}
		if !s.dirs[d].Equal(mtime) {
			s.dirs[d] = mtime
			changed = true
		}
	}
	return changed
}

// Get returns a namespace as it was last seen.
func (s *Set) Get(id uint64) (Namespace, bool) {
	n, ok := s.known[id]
	return n, ok
}

// Hidden is Found.Hidden of the last Refresh.
func (s *Set) Hidden() int { return s.hidden }

// MostOpen is how many namespaces may be held open when each costs that many
// descriptors: half of what this process may open, and no more than most.
func MostOpen(perNamespace, most int) int {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return 1
	}
	half := min(lim.Cur/2, 1<<20)
	return max(1, min(most, int(half)/max(1, perNamespace)))
}

// All returns the namespaces as they were last seen, the own one first.
func (s *Set) All() []Namespace {
	all := make([]Namespace, 0, len(s.known))
	for _, n := range s.known {
		all = append(all, n)
	}
	sorting.By(all, func(a, b Namespace) int {
		if a.Own != b.Own {
			if a.Own {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.ID, b.ID)
	})
	return all
}
