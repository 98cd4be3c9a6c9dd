package recording

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"snag/internal/sorting"
)

// Concat joins consecutive recordings of one host, as the pieces of snag record's ring, into one. Gaps of
// more than two seconds between them are named in the coverage.
func Concat(all []*Recording) (*Recording, error) {
	if len(all) == 0 {
		return nil, errors.New("put recordings together: there is none")
	}
	all = slices.Clone(all)
	sorting.StableBy(all, func(a, b *Recording) int { return int(min(max(a.Manifest.Start.Sub(b.Manifest.Start), -1), 1)) })
	out := &Recording{Dir: all[0].Dir, Manifest: all[0].Manifest}
	out.Manifest.Written, out.Manifest.Broken = nil, ""
	set := newSeriesSet()
	ids := stackIDs{byText: map[string]int{}, out: out}
	cover := coverages{by: map[string]*Coverage{}}
	for i, r := range all {
		out.Manifest.End = max(out.Manifest.End, r.Manifest.End)
		out.Manifest.Step = max(out.Manifest.Step, r.Manifest.Step)
		out.Damage = append(out.Damage, r.Damage...)
		if i > 0 {
			cover.gap(all[i-1], r)
		}
		cover.add(r)
		moved := ids.of(r)
		for _, t := range tables {
			t.each(r, func(row Row) bool {
				switch row.(type) {
				case Coverage, Stack:
				default:
					t.add(out, moved(row))
				}
				return true
			})
		}
		for _, s := range r.Series {
			into := set.series(s.Name, s.Labels)
			into.Points = append(into.Points, s.Points...)
		}
	}
	out.Series = set.list(func(name string) string { return name })
	out.Coverage = cover.rows()
	out.Events = append(out.Events, cover.gaps...)
	out.Events = endForgotten(lastTold(out.Events), all)
	for _, t := range tables {
		t.tidy(out)
	}
	return out, nil
}

// longestGap is the longest normal gap between two pieces.
const longestGap = 2 * time.Second

// lastTold removes earlier rows of events that were written again while they lasted.
func lastTold(events []Event) []Event {
	key := eventKey
	last := map[string]int{}
	for i, e := range events {
		if j, known := last[key(e)]; known && e.End == 0 && events[j].End != 0 {
			continue
		}
		last[key(e)] = i
	}
	var out []Event
	for i, e := range events {
		if last[key(e)] == i {
			out = append(out, e)
		}
	}
	return out
}

func eventKey(e Event) string { return fmt.Sprint(e.T, e.Kind, e.Subject) }

// restatedBy is when a piece of a ring has what goes on of each stream.
const restatedBy = 5 * time.Second

// endForgotten ends events of streams that a later piece does not say to go on: the recorder was killed,
// or had no space, when they ended.
func endForgotten(events []Event, all []*Recording) []Event {
	last := map[string]int{}
	for i, r := range all {
		for _, e := range r.Events {
			if e.Subject.Kind == KindStream {
				last[eventKey(e)] = i
			}
		}
	}
	for i, e := range events {
		if e.Subject.Kind != KindStream || e.End != 0 {
			continue
		}
		told := last[eventKey(e)]
		for _, r := range all[told+1:] {
			if m := r.Manifest; m.End.Sub(m.Start) >= restatedBy {
				events[i].End = max(all[told].Manifest.End, e.T) // the next recorder may have begun much later
				break
			}
		}
	}
	return events
}

// stackIDs assigns common ids to the stacks of several recordings.
type stackIDs struct {
	byText map[string]int
	out    *Recording
}

// of returns a function that replaces the stack ids in the rows of r.
func (s *stackIDs) of(r *Recording) func(Row) Row {
	to := map[int]int{}
	for _, one := range r.Stacks {
		text := fmt.Sprint(strings.Join(one.Frames, "\n"), "\x00", strings.Join(one.Objects, "\n"), "\x00", one.Kernel, one.Cut, one.Guessed)
		id, known := s.byText[text]
		if !known {
			id = len(s.byText) + 1
			s.byText[text] = id
			from := one.ID
			one.ID = id
			s.out.Stacks = append(s.out.Stacks, one)
			one.ID = from
		}
		to[one.ID] = id
	}
	return func(row Row) Row { return withStacks(row, func(id int) int { return to[id] }) }
}

// withStacks replaces the stack ids in a row.
func withStacks(row Row, id func(int) int) Row {
	switch v := row.(type) {
	case Drop:
		v.Stack = id(v.Stack)
		return v
	case OnCPU:
		v.Stack = id(v.Stack)
		return v
	case OffCPU:
		v.Stack, v.WakerStack = id(v.Stack), id(v.WakerStack)
		return v
	case LockWait:
		v.Stack, v.OwnerStack = id(v.Stack), id(v.OwnerStack)
		return v
	}
	return row
}

// EachStack calls yield with the stack ids in a row.
func EachStack(row Row, yield func(id int)) {
	withStacks(row, func(id int) int {
		if id != 0 {
			yield(id)
		}
		return id
	})
}

// coverages merges the coverage of several recordings.
type coverages struct {
	by    map[string]*Coverage
	order []string
	gaps  []Event // times that were not recorded
}

func (c *coverages) add(r *Recording) {
	for _, row := range r.Coverage {
		at := c.by[row.Probe]
		if at == nil {
			own := row
			c.by[row.Probe] = &own
			c.order = append(c.order, row.Probe)
			continue
		}
		at.Lost += row.Lost
		at.Cost += row.Cost
		at.Late = max(at.Late, row.Late)
		if row.Share > 0 && (at.Share == 0 || row.Share < at.Share) {
			at.Share = row.Share
		}
		if row.State != at.State { // measured only part of the time
			if at.Why == "" {
				at.Why, at.Cure = row.Why, row.Cure
			}
			at.State = CoveragePartial
		}
	}
}

// gap notes a gap between two recordings.
func (c *coverages) gap(a, b *Recording) {
	if d := b.Manifest.Start.Sub(a.Manifest.End); d > longestGap {
		c.gaps = append(c.gaps, Event{T: a.Manifest.End, End: b.Manifest.Start, Kind: EventNotRecorded, Subject: Subject{Kind: KindObserver}, Value: d.Seconds(), Unit: "seconds"})
	}
}

// unrecorded names the gaps, those after the third by their number.
func (c *coverages) unrecorded() string {
	var texts []string
	for i, g := range c.gaps {
		if i == 3 {
			texts = append(texts, fmt.Sprintf("and at %d more times", len(c.gaps)-i))
			break
		}
		texts = append(texts, "nothing was recorded "+g.Interval().words())
	}
	return strings.Join(texts, "; ")
}

func (c *coverages) rows() (out []Coverage) {
	for _, name := range c.order {
		row := *c.by[name]
		if len(c.gaps) > 0 && row.State == CoverageOK {
			row.State, row.Why = CoveragePartial, c.unrecorded()
		}
		out = append(out, row)
	}
	return out
}
