package ends

import (
	"cmp"

	"snag/internal/kernel"
	"snag/internal/sorting"
	"snag/recording"
)

const (
	// mostEach of one parent, name and outcome in a second have rows of their own; the
	// others are added up in one row.
	mostEach = 8
	// mostRows of a second are kept.
	mostRows = 256
)

// end is an entry of the table.
type end struct {
	pid   uint32
	value kernelEnd
}

// rows are those of a second, and how many ends have none. Where there are too many, those
// that ended by a signal are kept, then those that failed.
func rows(all []end, a recording.Anchor) (out []recording.Exit, lost uint64) {
	sorting.By(all, func(x, y end) int { return cmp.Or(cmp.Compare(x.value.At, y.value.At), cmp.Compare(x.pid, y.pid)) })
	type kind struct {
		ppid uint32
		comm [16]uint8
		code int32
	}
	seen, rest := map[kind]int{}, map[kind]int{} // how many have rows; the row of the others
	for _, e := range all {
		k := kind{e.value.Ppid, e.value.Comm, e.value.Code}
		row := rowOf(e, a)
		if seen[k]++; seen[k] <= mostEach {
			out = append(out, row)
			continue
		}
		if i, ok := rest[k]; ok {
			out[i].N++
			out[i].Age += row.Age
			continue
		}
		row.PID = 0
		rest[k] = len(out)
		out = append(out, row)
	}
	for i := range out {
		out[i].Age /= float64(out[i].N)
	}
	if len(out) > mostRows {
		sorting.StableBy(out, func(x, y recording.Exit) int {
			return cmp.Or(cmp.Compare(urgency(y), urgency(x)), cmp.Compare(y.N, x.N))
		})
		for _, row := range out[mostRows:] {
			lost += row.N
		}
		out = out[:mostRows]
		sorting.StableBy(out, func(x, y recording.Exit) int { return cmp.Compare(x.T, y.T) })
	}
	return out, lost
}

func urgency(e recording.Exit) int {
	switch {
	case e.Signal != "":
		return 2
	case e.Status != 0:
		return 1
	}
	return 0
}

// rowOf reads the code as wait(2) does: WTERMSIG, WCOREDUMP, WEXITSTATUS.
func rowOf(e end, a recording.Anchor) recording.Exit {
	v := e.value
	row := recording.Exit{
		T: a.FromMonotonic(int64(v.At)), PID: int(e.pid), PPID: int(v.Ppid), Comm: kernel.Text(v.Comm[:]), Netns: uint64(v.Netns), N: 1,
		Core: v.Code&0x80 != 0,
	}
	if signal := v.Code & 0x7f; signal != 0 {
		row.Signal = kernel.SignalName(int(signal))
	} else {
		row.Status = int(v.Code>>8) & 0xff
	}
	if v.At > v.Began {
		row.Age = float64(v.At-v.Began) / 1e9
	}
	return row
}
