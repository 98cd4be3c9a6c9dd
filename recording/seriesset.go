package recording

import (
	"slices"
)

// seriesSet gathers points of the same series from several places: blocks and a
// log that may tell the same samples twice.
type seriesSet struct {
	byKey map[string]*Series
	key   []byte
	meter *meter // nil: of what was read already
}

func newSeriesSet() *seriesSet { return &seriesSet{byKey: map[string]*Series{}} }

// series returns the one of that name and labels, made if need be.
func (s *seriesSet) series(name string, l Labels) *Series {
	s.key = appendKey(s.key[:0], name, l)
	at := s.byKey[string(s.key)]
	if at == nil {
		at = &Series{Name: name, Labels: l}
		s.byKey[string(s.key)] = at
		if s.meter != nil && s.meter.newSeries(name, l) != nil {
			delete(s.byKey, string(s.key))
		}
	}
	return at
}

// full reports whether there are more than are read.
func (s *seriesSet) full() error {
	if s.meter != nil && s.meter.over != nil {
		return s.meter.over
	}
	return nil
}

// add puts points to a series; an error: there are too many.
func (s *seriesSet) add(to *Series, points ...Point) error {
	if s.meter != nil {
		if err := s.meter.points(len(points)); err != nil {
			return err
		}
	}
	to.Points = append(to.Points, points...)
	return nil
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
