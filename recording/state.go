package recording

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// StateKey returns the key of a state row: a row that is valid until the next row with the same key, as
// settings, interfaces, routes, libraries and coverage are. They are written when first seen and when
// they change. "" for all other rows: counts per second, events, and rows that are repeated anyway, as
// those of processes and sockets.
func StateKey(row Row) string {
	switch v := row.(type) {
	case Fact:
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
// with them. Rows of processes and namespaces that have ended are dropped.
type State struct {
	tables map[string]map[string]Row
	seen   map[int]Time // time of the last row by process
}

// Take processes a row.
func (s *State) Take(row Row) {
	if s.tables == nil {
		s.tables, s.seen = map[string]map[string]Row{}, map[int]Time{}
	}
	switch v := row.(type) {
	case Event:
		s.forget(v)
		return
	case Process:
		s.seen[v.PID] = v.T
		return
	}
	key := StateKey(row)
	if key == "" {
		return
	}
	name := row.Table()
	if s.tables[name] == nil {
		s.tables[name] = map[string]Row{}
	}
	s.tables[name][key] = row
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

// Prune drops the rows of processes that had no row for that long, and of control groups whose limit was
// not written again in twice that time: they have ended, which no event tells.
func (s *State) Prune(now Time, silent time.Duration) {
	maps.DeleteFunc(s.seen, func(_ int, last Time) bool { return now.Sub(last) > silent })
	s.drop(func(row Row) bool {
		pid := ofProcess(row)
		_, there := s.seen[pid]
		g, isGroup := row.(Cgroup)
		return pid != 0 && !there || isGroup && now.Sub(g.T) > 2*silent
	})
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
