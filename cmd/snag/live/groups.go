package live

import (
	"cmp"

	"snag/internal/sorting"
	"snag/probes/streams/watch"
)

// group is the streams that have one value of the label that they are grouped by.
type group struct {
	key, value string // "" of those that have no such label
	rows       []*watch.Row
	states     [watch.States]int
}

// groupsOf parts rows, the worst first, by a label: the group of the worst first, and
// last of those that are as well, the streams without the label.
func groupsOf(rows []*watch.Row, key string) []group {
	at := map[string]int{}
	var out []group
	for _, r := range rows {
		value := r.Labels[key]
		i, ok := at[value]
		if !ok {
			i = len(out)
			at[value] = i
			out = append(out, group{key: key, value: value})
		}
		out[i].rows = append(out[i].rows, r)
		out[i].states[r.State]++
	}
	sorting.StableBy(out, func(a, b group) int {
		return cmp.Or(cmp.Compare(rank(a.rows[0].State), rank(b.rows[0].State)), after(a.value == "", b.value == ""), sorting.Natural(a.value, b.value))
	})
	return out
}

func after(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// String is what the group is called, and how its streams are.
func (g *group) String() string {
	name := g.key + " " + g.value
	if g.value == "" {
		name = "no " + g.key
	}
	return name + ": " + summed(len(g.rows), g.states, watch.States)
}

// item is one line of the table: a row, or above the rows of a group what it is.
type item struct {
	row  *watch.Row
	head string
}

// itemsOf are the lines of the table; without a key each is a row.
func itemsOf(rows []*watch.Row, key string) []item {
	out := make([]item, 0, len(rows))
	if key == "" {
		for _, r := range rows {
			out = append(out, item{row: r})
		}
		return out
	}
	for _, g := range groupsOf(rows, key) {
		out = append(out, item{head: g.String()})
		for _, r := range g.rows {
			out = append(out, item{row: r})
		}
	}
	return out
}

// rowsOf are the rows in the order in which the table has them.
func rowsOf(items []item) []*watch.Row {
	var out []*watch.Row
	for _, i := range items {
		if i.row != nil {
			out = append(out, i.row)
		}
	}
	return out
}
