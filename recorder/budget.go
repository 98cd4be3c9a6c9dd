package recorder

import (
	"fmt"
	"time"

	"snag/recording"
)

// mostRows are kept of a table for each second of a step in pieces that are downsampled; of events for each kind, so
// that many of one kind leave the others their room. A service and a client that is asked all the time make one row
// each second.
const mostRows = 100

// budget bounds the rows that downsampling does not merge: events, drops, resets, requests. Of more it keeps rows that
// are evenly spread over the step, and counts the others.
type budget struct {
	step        recording.Time
	most        int
	found, seen map[rowsOf]int
	lost        map[string]uint64 // by table
}

// rowsOf is what has a budget.
type rowsOf struct {
	table, kind string
	step        recording.Time
}

func newBudget(step time.Duration) budget {
	return budget{recording.Time(step), int(step.Seconds() * mostRows), map[rowsOf]int{}, map[rowsOf]int{}, map[string]uint64{}}
}

// of is the budget of a row; false: it has none. State rows are few, and stacks belong to the rows that name them.
func (b *budget) of(row recording.Row) (rowsOf, bool) {
	switch row := row.(type) {
	case recording.Stack, recording.Coverage:
		return rowsOf{}, false
	case recording.Event:
		return rowsOf{row.Table(), row.Kind, row.T / b.step}, true
	}
	return rowsOf{table: row.Table(), step: recording.TimeOf(row) / b.step}, recording.StateKey(row) == ""
}

// count is called with each row before the first is asked for.
func (b *budget) count(row recording.Row) {
	if of, has := b.of(row); has {
		b.found[of]++
	}
}

// keeps reports whether a row is kept.
func (b *budget) keeps(row recording.Row) bool {
	of, has := b.of(row)
	if !has || b.found[of] <= b.most {
		return true
	}
	i, n := b.seen[of], b.found[of]
	b.seen[of]++
	if (i+1)*b.most/n > i*b.most/n {
		return true
	}
	b.lost[of.table]++
	return false
}

// note puts what was left out into the coverage of what the rows say.
func (b *budget) note(out *recording.Recording) {
	for table, n := range b.lost {
		out.LeftOut(table, n, fmt.Sprintf("of the %s of old pieces %d rows per second are kept", table, mostRows))
	}
}
