package threads

import "snag/recording"

// Looker looks at threads when it is asked to.
type Looker struct{ read reader }

// NewLooker reads below the procfs root proc.
func NewLooker(proc string) *Looker {
	return &Looker{reader{proc: proc, accounted: delaysAccounted(proc)}}
}

// Look reads the threads of those processes as they are now, most of them at most,
// and counts those that it left out. Processes that have ended have none. A thread
// that was on no CPU since the last look costs a third.
func (l *Looker) Look(pids []int, most int, now func() recording.Time) (rows []recording.Thread, left int) {
	l.read.next()
	for _, pid := range pids {
		tids, all, err := l.read.tids(pid, max(most-len(rows), 0))
		if err != nil {
			continue
		}
		left += all - len(tids)
		first := len(rows)
		for _, tid := range tids {
			t := now()
			if row, ok := l.read.thread(pid, tid); ok {
				row.T = t
				rows = append(rows, row)
			}
		}
		owners(pid, rows[first:], ReadMemory)
	}
	return rows, left
}

// Refused is why the calls of some threads could not be read, and how many tries
// that were; nil where none was.
func (l *Looker) Refused() (uint64, error) { return l.read.syscall.n, l.read.syscall.first }
