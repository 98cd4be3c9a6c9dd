package recording

import (
	"slices"
)

// seriesSet gathers points of the same series from several places: blocks and a
// log that may tell the same samples twice.
type seriesSet struct {
	byKey map[string]*Series
	key   []byte
}

func newSeriesSet() *seriesSet { return &seriesSet{byKey: map[string]*Series{}} }

// series returns the one of that name and labels, made if need be.
func (s *seriesSet) series(name string, l Labels) *Series {
	s.key = appendKey(s.key[:0], name, l)
	at := s.byKey[string(s.key)]
	if at == nil {
		at = &Series{Name: name, Labels: l}
		s.byKey[string(s.key)] = at
	}
	return at
}

// list returns all that have points, in the order that Select needs, each by
// time and each time once (the first that was told).
func (s *seriesSet) list(rename func(string) string) []Series {
	out := make([]Series, 0, len(s.byKey))
	for _, v := range s.byKey {
		if len(v.Points) == 0 {
			continue
		}
		byTime := func(a, b Point) int {
			switch {
			case a.T < b.T:
				return -1
			case a.T > b.T:
				return 1
			}
			return 0
		}
		if !slices.IsSortedFunc(v.Points, byTime) {
			slices.SortStableFunc(v.Points, byTime)
		}
		v.Points = slices.CompactFunc(v.Points, func(a, b Point) bool { return a.T == b.T })
		v.Name = rename(v.Name)
		out = append(out, *v)
	}
	SortSeries(out)
	return out
}
