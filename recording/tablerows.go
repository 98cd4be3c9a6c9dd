package recording

import "fmt"

// TableNames lists the tables, in the order in which show prints them.
func TableNames() []string {
	var out []string
	for _, t := range tables {
		out = append(out, t.name)
	}
	return out
}

// Rows returns every row of a table, in order; false: there is no such table.
func (r *Recording) Rows(name string) ([]Row, bool) {
	t := tableNamed(name)
	if t == nil {
		return nil, false
	}
	var out []Row
	t.each(r, func(row Row) bool {
		out = append(out, row)
		return true
	})
	return out, true
}

// TimeOf is when a row was written; 0: its table has no times.
func TimeOf(row Row) Time {
	t := tableNamed(row.Table())
	if t == nil {
		return 0
	}
	return t.time(row)
}

// EachRow calls yield with every row of a table, in order, until it says false; it is
// false where there is no such table.
func (r *Recording) EachRow(name string, yield func(Row) bool) bool {
	t := tableNamed(name)
	if t != nil {
		t.each(r, yield)
	}
	return t != nil
}

// DecodeStrict reads one JSON row of a table that a person wrote: a column that
// the table has not is an error, and so is a table that there is not.
func DecodeStrict(table string, line []byte) (Row, error) {
	t := tableNamed(table)
	if t == nil {
		return nil, fmt.Errorf("no table %q: there are %v", table, TableNames())
	}
	return t.decodeStrict(line)
}
