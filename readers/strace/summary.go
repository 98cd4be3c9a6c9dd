package strace

import (
	"bytes"
	"strconv"

	"snag/recording"
)

// tableRow is one line of the table that strace -c and -C print:
//
//	% time     seconds  usecs/call     calls    errors syscall
//	------ ----------- ----------- --------- --------- ----------------
//	 61.45    0.000110          10        11         9 accept4
type tableRow struct {
	call         string
	n, errors    uint64
	seconds      float64
	microseconds float64 // a call
}

// isTable tells a line of that table, the lines around it included.
func isTable(b []byte) bool {
	if bytes.HasPrefix(b, []byte("% time ")) || bytes.HasPrefix(b, []byte("------ -")) {
		return true
	}
	_, ok := tableLine(b)
	return ok
}

// tableLine reads a row of it.
func tableLine(b []byte) (row tableRow, ok bool) {
	f := bytes.Fields(b)
	if len(f) != 5 && len(f) != 6 {
		return row, false
	}
	share, err := strconv.ParseFloat(string(f[0]), 64)
	var errs [4]error
	row.seconds, errs[0] = strconv.ParseFloat(string(f[1]), 64)
	row.microseconds, errs[1] = strconv.ParseFloat(string(f[2]), 64)
	row.n, errs[2] = strconv.ParseUint(string(f[3]), 10, 64)
	if len(f) == 6 {
		row.errors, errs[3] = strconv.ParseUint(string(f[4]), 10, 64)
	}
	for _, e := range errs {
		if e != nil {
			return row, false
		}
	}
	last := f[len(f)-1]
	for _, c := range last {
		if !isName(c) {
			return row, false
		}
	}
	row.call = string(last)
	return row, err == nil && share >= 0 && share <= 100.01 && row.seconds >= 0
}

// errorUnknown stands for the errno of failures that are only counted.
const errorUnknown = "errors"

// totals writes the rows of a table that stands alone: sums of the whole trace, without
// time, thread or descriptor.
func (t *Trace) totals() {
	for _, row := range t.table {
		call := recording.Call{T: recording.Time(t.o.Begin), Call: row.call, FD: -1, N: row.n, Sum: row.seconds, Max: row.microseconds / 1e6}
		if row.errors > 0 {
			call.Errors = map[string]uint64{errorUnknown: row.errors}
		}
		t.out.Append(call)
	}
	t.Counts.First, t.Counts.Last = recording.Time(t.o.Begin), recording.Time(t.o.Begin)
}

// note takes a row of a table. Where the calls themselves are in the file it says
// nothing new.
func (t *Trace) note(b []byte) {
	if row, ok := tableLine(b); ok && row.call != "total" && len(t.table) < mostNames {
		t.table = append(t.table, row)
	}
}
