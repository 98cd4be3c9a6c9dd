package gclog

import (
	"bytes"
	"slices"
	"strings"

	"snag/internal/sorting"
)

// Part is one file of a log that is rotated: gc.log, gc.log.0, gc.log.1 … (-Xlog with
// filecount), or gc.log.0, gc.log.1.current (JDK 8 with UseGCLogFileRotation). The
// numbers go round, so that they do not tell which is older.
type Part struct {
	Name  string
	First Stamp // of its first line that has one
}

// FirstStamp is the stamp of the first line that has one, in a file's beginning.
func FirstStamp(b []byte) Stamp {
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		if len(line) == 0 {
			continue
		}
		s := Stamp{}
		if isLegacy(line) {
			s, _ = legacyStamp(line)
		} else {
			s = stamp(line)
		}
		if s.Known() {
			return s
		}
	}
	return Stamp{}
}

// InOrder sorts the parts of one log by when they were begun; false where their stamps
// do not tell. A log that another JVM has begun anew under the same name is told from
// the older parts by the time of day alone: the uptime begins again.
func InOrder(parts []Part) bool {
	for _, by := range []struct {
		has func(Stamp) bool
		of  func(Stamp) int64
	}{
		{func(s Stamp) bool { return s.HasWall }, func(s Stamp) int64 { return s.Wall }},
		{func(s Stamp) bool { return s.HasUptime }, func(s Stamp) int64 { return int64(s.Uptime) }},
		{func(s Stamp) bool { return s.HasNanos }, func(s Stamp) int64 { return s.Nanos }},
	} {
		if slices.ContainsFunc(parts, func(p Part) bool { return !by.has(p.First) }) {
			continue
		}
		sorting.StableBy(parts, func(a, b Part) int {
			x, y := by.of(a.First), by.of(b.First)
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return strings.Compare(b.Name, a.Name) // gc.log.0 is older than gc.log
		})
		return true
	}
	return false
}
