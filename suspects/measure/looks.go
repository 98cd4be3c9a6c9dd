package measure

import (
	"sort"
	"time"

	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
)

// Look is all threads of a process as one tick of the probe saw them.
type Look struct {
	T    recording.Time
	Rows []recording.Thread
}

// apart: the rows of one tick follow each other within milliseconds, ticks are a
// second apart, but for the last one, which sees every thread once more.
const apart = 300 * time.Millisecond

// LooksAt parts the threads' rows of a process into the ticks that wrote them.
// Stopped threads are left out, and the kernel's own that wait for work: they wait for nobody.
func LooksAt(p *scene.Process) []Look { return LooksOf(p.Threads) }

// LooksOf parts threads' rows into the ticks that wrote them, without those of threads that wait
// for nobody.
func LooksOf(threads []*scene.Thread) []Look {
	var rows []recording.Thread
	for _, t := range threads {
		for _, row := range t.Rows {
			if row.State != "T" && row.State != "t" && (row.State != "S" || !scene.IOWorker(row.Comm)) {
				rows = append(rows, row)
			}
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].T < rows[j].T })
	var out []Look
	for _, row := range rows {
		n := len(out)
		if n > 0 && row.T.Sub(out[n-1].Rows[len(out[n-1].Rows)-1].T) < apart && out[n-1].Thread(row.TID) == nil {
			out[n-1].Rows = append(out[n-1].Rows, row)
			continue
		}
		out = append(out, Look{row.T, []recording.Thread{row}})
	}
	return out
}

// Thread is the row of that thread in the look, or nil.
func (l Look) Thread(tid int) *recording.Thread {
	for i := range l.Rows {
		if l.Rows[i].TID == tid {
			return &l.Rows[i]
		}
	}
	return nil
}

// TurnsOf sums the request turns that a process served (or, role call, asked of
// that remote; "" for all) in the intervals.
func TurnsOf(r *recording.Recording, pid int, role, remote string, active []recording.Interval) recording.Turns {
	var sum recording.Turns
	for _, t := range r.Turns {
		if t.PID != pid || t.Role != role || remote != "" && t.Remote != remote || !intervals.Cover(active, t.T) {
			continue
		}
		sum.N += t.N
		sum.Sum += t.Sum
		sum.Wait += t.Wait
		sum.Max = max(sum.Max, t.Max)
		sum.Open = max(sum.Open, t.Open)
		sum.Oldest = max(sum.Oldest, t.Oldest)
	}
	return sum
}
