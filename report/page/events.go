package page

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
)

// events are those that a reader of a timeline looks for.
func (b *builder) events() []Event {
	out := b.lockEvents()
	for i, e := range b.r.Events {
		if len(out) == b.limits.Events {
			b.leaveOut("%s events (snag show --table events)", units.Count(float64(len(b.r.Events)-i)))
			break
		}
		event := Event{T: b.since(e.T), Kind: lane(e), Subject: b.rowSubject(e.Subject), Text: b.eventText(e)}
		if e.End > e.T {
			end := b.since(e.End)
			event.End = &end
		}
		out = append(out, event)
	}
	return out
}

// lane is the row of the timeline that an event is in: what logs tell of a stream has one
// of its own, so that its life is read from left to right.
func lane(e recording.Event) string {
	switch {
	case e.Kind != recording.EventLogLine:
		return e.Kind
	case e.Subject.Kind == recording.KindStream:
		return "log: " + e.Subject.Name
	}
	return "log: " + e.Attrs["what"]
}

// rowSubject is whom a row of the timeline names. The threads of a process share it: a row has room for one name.
func (b *builder) rowSubject(s recording.Subject) string {
	if s.Kind == recording.KindThread {
		return b.processOf(s.PID, "")
	}
	return b.nameOf(s)
}

func (b *builder) nameOf(s recording.Subject) string {
	if s.Name != "" {
		return s.Name
	}
	return b.s.Name(s)
}

func (b *builder) eventText(e recording.Event) string {
	parts := []string{b.nameOf(e.Subject)}
	keys := make([]string, 0, len(e.Attrs))
	for k := range e.Attrs {
		if k != "running_at" {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	for _, k := range keys {
		parts = append(parts, k+" "+e.Attrs[k])
	}
	if e.Value != 0 {
		parts = append(parts, "value "+valueText(e))
	}
	return strings.TrimSpace(strings.Join(parts, " · "))
}

// valueText writes an event's value in its unit: a pause of 92 ms is not 0 s.
func valueText(e recording.Event) string {
	switch e.Unit {
	case "s", "seconds":
		return units.Seconds(time.Duration(e.Value * 1e9))
	case "ratio":
		return units.Percent(e.Value)
	}
	return strings.TrimSpace(units.Count(e.Value) + " " + e.Unit)
}

// lockLanes are the locks whose waits have a row of the timeline, those that most time
// went to.
const lockLanes = 3

// firstLook: what was waited for within it may have been waited for before anybody
// looked, as the closer look begins late in a find.
const firstLook = 1500 * time.Millisecond

// lockEvents are when threads waited for the locks that cost most: a span for seconds
// that follow one another.
func (b *builder) lockEvents() []Event {
	type lockOf struct {
		pid     int
		address uint64
	}
	rows, sums := map[lockOf][]recording.LockWait{}, map[lockOf]float64{}
	var order []lockOf
	for _, row := range b.r.LockWaits {
		if row.Kind == "condition" { // who waits for work is no queue
			continue
		}
		k := lockOf{row.PID, row.Address}
		if rows[k] == nil {
			order = append(order, k)
		}
		rows[k], sums[k] = append(rows[k], row), sums[k]+row.Sum
	}
	sort.SliceStable(order, func(i, j int) bool { return sums[order[i]] > sums[order[j]] })
	var since recording.Time // 0: not told
	if row, ok := b.r.Measured("locks.futex"); ok {
		since = row.Since
	}
	out := []Event{}
	for _, k := range order[:min(len(order), lockLanes)] {
		var span *Event
		most, from, holder, begun := 0, recording.Time(0), "", ""
		for _, row := range rows[k] {
			end := b.since(row.T.Add(time.Second))
			if span == nil || b.since(row.T) > *span.End+0.5 {
				out = append(out, Event{T: b.since(row.T), End: new(float64), Kind: "lock-wait", Subject: b.processOf(k.pid, row.Comm)})
				span, most, from, holder, begun = &out[len(out)-1], 0, row.T, "", ""
			}
			*span.End, most = end, max(most, row.Waiters)
			if row.Owner != 0 {
				holder = fmt.Sprintf(" · held by thread %d %s", row.Owner, row.OwnerComm)
			}
			if since != 0 && from < since.Add(firstLook) {
				begun = " · from the first sample of locks on, or before"
			}
			span.Text = fmt.Sprintf("%s · lock %#x · up to %d threads wait · %s%s%s", b.processOf(k.pid, row.Comm), k.address, most, units.Seconds(row.T.Add(time.Second).Sub(from)), begun, holder)
		}
	}
	return out
}
