package recording

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// StateKey returns the key of a state row: a row that is valid until the next row with the same key, as
// settings, interfaces, routes, libraries and coverage are. They are written when first seen and when
// they change. "" for all other rows: counts per second, events, and rows that are repeated anyway, as
// those of processes and sockets.
func StateKey(row Row) string {
	switch v := row.(type) {
	case Fact:
		if ofGroup(v) { // of each group one, of io.max one for each disk
			what, _, _ := strings.Cut(v.Value, " ")
			return fmt.Sprint(v.Name, " ", v.Source, " ", what)
		}
		return fmt.Sprint(v.Name, " ", v.Netns)
	case Library:
		return fmt.Sprint(v.PID, " ", v.Path)
	case LogFile:
		return fmt.Sprint(v.PID, " ", v.FD)
	case FD:
		return fmt.Sprint(v.PID, " ", v.FD)
	case Qdisc:
		return fmt.Sprint(v.Netns, " ", v.Device, " ", v.Handle, " ", v.Parent)
	case Link:
		return fmt.Sprint(v.Netns, " ", v.Index)
	case NIC:
		return fmt.Sprint(v.Netns, " ", v.Device)
	case Queue:
		return fmt.Sprint(v.Netns, " ", v.Device, " ", v.Dir, " ", v.Index)
	case IRQ:
		return fmt.Sprint(v.Number)
	case Netns:
		return fmt.Sprint(v.ID)
	case Route:
		return fmt.Sprint(v.Netns, " ", v.In, " ", v.Dst, " ", v.Metric, " ", v.Exception)
	case Neighbour:
		return fmt.Sprint(v.Netns, " ", v.Device, " ", v.Addr)
	case Rule:
		return fmt.Sprint(v.Netns, " ", v.Family, " ", v.Of, " ", v.Chain, " ", v.Handle)
	case Cgroup:
		return v.Path
	case Stream:
		if v.Side == StreamSidePlayer { // snag's own reader has one connection at a time
			return fmt.Sprint(v.Name, " ", v.Layer, " ", v.Side)
		}
		return fmt.Sprint(v.Name, " ", v.Layer, " ", v.Side, " ", v.Local, " ", v.Remote)
	case Coverage:
		return v.Probe
	}
	return ""
}

// ofProcess is the process that a state row belongs to; 0: none.
func ofProcess(row Row) int {
	switch v := row.(type) {
	case Fact:
		return ofJVM(v)
	case Library:
		return v.PID
	case LogFile:
		return v.PID
	case FD:
		return v.PID
	}
	return 0
}

// inNetns is the network namespace that a state row belongs to; 0: none.
func inNetns(row Row) uint64 {
	switch v := row.(type) {
	case Fact:
		return v.Netns
	case Qdisc:
		return v.Netns
	case Link:
		return v.Netns
	case NIC:
		return v.Netns
	case Queue:
		return v.Netns
	case IRQ:
		return v.Netns
	case Netns:
		return v.ID
	case Route:
		return v.Netns
	case Neighbour:
		return v.Netns
	case Rule:
		return v.Netns
	case Stream:
		return v.Netns
	}
	return 0
}

// State keeps the latest state row of each key (StateKey), so that the next piece of a ring can start
// with them. Rows about what has gone are dropped: by the event that says so, or by Prune.
type State struct {
	tables map[string]map[string]Row
	seen   map[int]Time // time of the last row by process
	own    uint64       // the recorder's network namespace, whose facts have no namespace as well
}

// Take processes a row. It reports whether the row is to be written: false if it only repeats what the
// state has, as a probe does at each piece for what is still there (probe.Rotation).
func (s *State) Take(row Row) bool {
	if s.tables == nil {
		s.tables, s.seen = map[string]map[string]Row{}, map[int]Time{}
	}
	switch v := row.(type) {
	case Event:
		s.forget(v)
		return true
	case Process:
		s.seen[v.PID] = v.T
		return true
	case Netns:
		if v.Own {
			s.own = v.ID
		}
	}
	key := StateKey(row)
	if key == "" {
		return true
	}
	name := row.Table()
	if s.tables[name] == nil {
		s.tables[name] = map[string]Row{}
	}
	old, known := s.tables[name][key]
	s.tables[name][key] = row
	_, again := writtenAgain(row)
	_, fact := row.(Fact)
	return !known || !again && !fact || !sameButTime(old, row)
}

func (s *State) forget(e Event) {
	switch e.Kind {
	case EventProcessGone:
		s.drop(func(row Row) bool { return ofProcess(row) == e.Subject.PID })
	case EventNetnsGone:
		s.drop(func(row Row) bool { return inNetns(row) == e.Subject.Netns })
	}
}

func (s *State) drop(gone func(Row) bool) {
	for _, rows := range s.tables {
		for key, row := range rows {
			if gone(row) {
				delete(rows, key)
			}
		}
	}
}

// Prune drops the rows of processes that had no row for that long, and those about things that probes
// write again in each piece (writtenAgain), if they did not: the thing has gone, which no event says.
// silent is the length of a piece. Probes have half a piece more to be late, and a piece more for control
// groups, which are searched for seldom.
func (s *State) Prune(now Time, silent time.Duration) {
	maps.DeleteFunc(s.seen, func(_ int, last Time) bool { return now.Sub(last) > silent })
	s.drop(func(row Row) bool {
		pid := ofProcess(row)
		_, there := s.seen[pid]
		written, again := writtenAgain(row)
		late := silent / 2
		switch row.(type) {
		case Cgroup, Fact:
			late = silent
		}
		return pid != 0 && !there || again && now.Sub(written) > silent+late
	})
	s.dropDevices(now.Add(-silent / 2))
}

// Rows yields all rows, ordered by table and key.
func (s *State) Rows(yield func(Row) bool) {
	for _, t := range tables {
		rows := s.tables[t.name]
		for _, key := range slices.Sorted(maps.Keys(rows)) {
			if !yield(rows[key]) {
				return
			}
		}
	}
}
