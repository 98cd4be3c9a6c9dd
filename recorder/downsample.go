package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"snag/recording"
)

// downsample reduces a recording to one sample per step. Of each series it keeps the first value, the
// minimum and the maximum per step; of processes and threads one row, of sockets two rows per step; CPU
// samples are summed. Events, drops, resets and requests are kept within their own budget (budget.go).
func downsample(r *recording.Recording, step time.Duration) *recording.Recording {
	out := &recording.Recording{Dir: r.Dir, Manifest: r.Manifest, Damage: r.Damage}
	out.Manifest.Written, out.Manifest.Step = nil, max(r.Manifest.Step, step.Seconds())
	for _, s := range r.Series {
		out.Series = append(out.Series, recording.Series{Name: s.Name, Labels: s.Labels, Points: downsamplePoints(s.Points, step)})
	}
	t := downsampler{step: recording.Time(step), out: out, at: map[string]int{}, stood: map[string]string{}}
	t.processes(r)
	t.threads(r)
	t.sockets(r)
	t.ran(r)
	b := newBudget(step)
	eachUnmerged(r, b.count)
	eachUnmerged(r, func(row recording.Row) {
		if t.says(row) && b.keeps(row) {
			out.Add(row)
		}
	})
	b.note(out)
	return out
}

// eachUnmerged has the rows of the tables that are not merged by step.
func eachUnmerged(r *recording.Recording, take func(recording.Row)) {
	for _, table := range recording.TableNames() {
		r.EachRow(table, func(row recording.Row) bool {
			switch row.(type) {
			case recording.Process, recording.Thread, recording.ThreadStates, recording.Socket, recording.OnCPU, recording.Loop:
				return false
			}
			take(row)
			return true
		})
	}
}

// downsamplePoints keeps the first, minimum and maximum of each step, at their original times.
func downsamplePoints(all []recording.Point, step time.Duration) (out []recording.Point) {
	for i := 0; i < len(all); {
		end := (all[i].T/recording.Time(step) + 1) * recording.Time(step)
		first, least, most := i, i, i
		for ; i < len(all) && all[i].T < end; i++ {
			if all[i].V < all[least].V {
				least = i
			}
			if all[i].V > all[most].V {
				most = i
			}
		}
		last := -1
		for _, k := range []int{first, min(least, most), max(least, most)} {
			if k > last {
				out = append(out, all[k])
				last = k
			}
		}
	}
	return out
}

type downsampler struct {
	step  recording.Time
	out   *recording.Recording
	at    map[string]int    // index of the row of a step
	stood map[string]string // state rows as last written
}

func (t *downsampler) key(at recording.Time, what ...any) string {
	return fmt.Sprint(append(what, int64(at/t.step))...)
}

func (t *downsampler) processes(r *recording.Recording) {
	t.out.Processes = lastOfStep(r.Processes, func(p recording.Process) string {
		return t.key(p.T, p.PID, " ", p.Start, " ", p.State == "T" || p.State == "D", " ")
	})
}

func (t *downsampler) threads(r *recording.Recording) {
	t.out.Threads = lastOfStep(r.Threads, func(p recording.Thread) string { return t.key(p.T, p.TID, " ") })
}

// lastOfStep keeps the last row of each key.
func lastOfStep[T any](rows []T, key func(T) string) (out []T) {
	at := map[string]int{}
	for _, row := range rows {
		k := key(row)
		if i, known := at[k]; known {
			out[i] = row
			continue
		}
		at[k] = len(out)
		out = append(out, row)
	}
	return out
}

// sockets keeps the row with the longest queue and the last row of each step.
func (t *downsampler) sockets(r *recording.Recording) {
	clear(t.at)
	waits := func(s recording.Socket) int { return s.RecvQ + s.SendQ }
	for i, s := range r.Sockets {
		key := t.key(s.T, s.Netns, " ", s.Cookie, " ", s.Inode, " ", s.Local, " ", s.Remote, " ")
		most, known := t.at[key]
		if !known || waits(s) >= waits(r.Sockets[most]) {
			t.at[key] = i
		}
		t.at["last "+key] = i
	}
	keep := map[int]bool{}
	for _, i := range t.at {
		keep[i] = true
	}
	for i, s := range r.Sockets {
		if keep[i] {
			t.out.Sockets = append(t.out.Sockets, s)
		}
	}
}

// ran sums the CPU samples of a step per process and stack.
func (t *downsampler) ran(r *recording.Recording) {
	clear(t.at)
	for _, s := range r.OnCPU {
		key := t.key(s.T, s.PID, " ", s.Comm, " ", s.Stack, " ", s.Hz, " ", s.Event, " ")
		if i, known := t.at[key]; known {
			t.out.OnCPU[i].N += s.N
			t.out.OnCPU[i].Weight += s.Weight
			continue
		}
		s.TID = 0
		t.at[key] = len(t.out.OnCPU)
		t.out.OnCPU = append(t.out.OnCPU, s)
	}
}

// says reports whether a state row differs from the one before.
func (t *downsampler) says(row recording.Row) bool {
	what := recording.StateKey(row)
	if _, covers := row.(recording.Coverage); what == "" || covers {
		return true
	}
	what = row.Table() + " " + what
	now := textOf(row)
	if t.stood[what] == now {
		return false
	}
	t.stood[what] = now
	return true
}

// textOf is a row as JSON, without its time.
func textOf(row recording.Row) string {
	b, err := json.Marshal(row)
	if err != nil {
		return ""
	}
	_, rest, _ := bytes.Cut(b, []byte{','}) // the first column is "t"
	return string(rest)
}
