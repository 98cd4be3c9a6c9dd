package recording

import "bytes"

// Kept are rows that a writer put down and still has as they were, for who judges the
// recording right after it was written: they need not be decoded again. Only the tables
// are kept that are large where files are read, and only as long as all rows are of one
// source and fit; else the files are read as ever. The zero value keeps nothing until it is
// given to a writer (Options.Keep).
type Kept struct {
	rows  Recording
	n     map[string]int // rows by table
	key   int            // of the part that all are of
	bytes int            // of their lines
	over  bool           // there were too many, or rows of several sources
}

// mostKept bounds their lines, bytes; in memory they take up to twice that.
const mostKept = 16 << 20

// keeps tells the tables whose rows are kept. Who appends to them must not change a row's
// slices, maps or pointers afterwards.
func keeps(table string) bool {
	switch table {
	case "calls", "offcpu", "fds":
		return true
	}
	return false
}

// add keeps a row that was written as line.
func (k *Kept) add(t *table, row Row, line []byte, key int) {
	if k.over || !keeps(t.name) {
		return
	}
	if k.n == nil {
		k.n, k.key = map[string]int{}, key
	}
	if k.bytes += len(line); k.bytes > mostKept || key != k.key {
		*k = Kept{over: true}
		return
	}
	k.n[t.name]++
	// JSON has no bytes that are no UTF-8: a name with some is read as it was written.
	if bytes.Contains(line, []byte(`\ufffd`)) {
		if _, line = unmarked(bytes.Clone(line)); t.decoder(&rowReader{names: texts{}})(&k.rows, line) == nil {
			return
		}
	}
	t.add(&k.rows, row)
}

// give moves a table's rows to where they belong; false: they are not all here.
func (k *Kept) give(t *table, parts *partition, written int) bool {
	if k == nil || k.over || k.n[t.name] == 0 || k.n[t.name] != written {
		return false
	}
	t.move(parts.part(k.key), &k.rows)
	delete(k.n, t.name)
	return true
}

// OpenKept is Open of a folder that was just written, with the rows that its writer kept;
// they are the recording's from then on.
func OpenKept(path string, k *Kept) (*Recording, error) { return openWith(path, current, k) }
