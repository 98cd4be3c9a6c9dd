package ledger

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"snag/internal/sorting"
	"snag/recording"
	"snag/scene"
)

// Helpers are processes that a service started and asks over pipes or pairs of sockets, which
// have no address: a filter of URLs, a checker of passwords. They are recognised by their
// parent process and by how often they wake up: once for each answer or more.
type Helpers struct {
	Party *Party
	Comm  string
	PIDs  []int
	// Busy is how many of them were at work at a moment, on average, of the seconds in which all
	// were looked at; Seconds are the request-seconds that they took, InLine those before them.
	Busy, Seconds, InLine float64
	Call                  string // in which they were found most

	seen   float64        // seconds in which all were looked at
	found  map[int]atWork // by second
	always atWork         // on average of these
}

// atWork is what helpers do besides waiting for the next question: threads, on average, by place.
type atWork struct {
	busy  map[place]float64
	looks uint64
}

func (a atWork) threads() (sum float64) {
	for _, p := range a.places() {
		sum += a.busy[p]
	}
	return sum
}

// places are in an order that is always the same: so are sums.
func (a atWork) places() []place {
	return sorting.Collect(maps.Keys(a.busy), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(a.where, b.where))
	})
}

// wokenFor is how often a helper is woken for each answer of its service: a cache may spare it
// a few.
const wokenFor = 0.8

// helpersOf are those of a service, a group for each name, if all of a name were looked at.
func helpersOf(s *scene.Scene, r *recording.Recording, p *Party, all looks) (out []*Helpers) {
	serves := map[int]bool{}
	for _, t := range r.Turns {
		if t.Role == string(Serves) {
			serves[t.PID] = true
		}
	}
	by, woken, unseen := map[string]*Helpers{}, map[string]float64{}, map[string]bool{}
	for _, child := range s.Processes {
		pid, comm := child.Subject.PID, child.Subject.Comm
		if !slices.Contains(p.PIDs, child.First().PPID) || slices.Contains(p.PIDs, pid) || serves[pid] ||
			slices.ContainsFunc(child.Sockets, func(k *scene.Socket) bool { return k.Listening() || k.Listener != nil }) {
			continue
		}
		unseen[comm] = unseen[comm] || len(all[pid]) == 0
		if by[comm] == nil {
			by[comm] = &Helpers{Party: p, Comm: comm}
			out = append(out, by[comm])
		}
		by[comm].PIDs = append(by[comm].PIDs, pid)
		for _, t := range child.Threads {
			a, z := t.Rows[0], t.Rows[len(t.Rows)-1]
			if seconds := z.T.Sub(a.T).Seconds(); seconds > 0 && z.Voluntary > a.Voluntary {
				woken[comm] += float64(z.Voluntary-a.Voluntary) / seconds
			}
		}
	}
	out = slices.DeleteFunc(out, func(h *Helpers) bool { return unseen[h.Comm] || p.Rate == 0 || woken[h.Comm] < wokenFor*p.Rate })
	for _, h := range out {
		h.Call = mostIn(r, h.PIDs)
		h.lookAt(all)
	}
	return slices.DeleteFunc(out, func(h *Helpers) bool { return h.seen == 0 })
}

// lookAt takes what was found in the seconds in which all were looked at. A closer look begins
// when half of the window is over.
func (h *Helpers) lookAt(all looks) {
	h.found, h.always.busy = map[int]atWork{}, map[place]float64{}
	for at := range all[h.PIDs[0]] {
		now, whole := atWork{busy: map[place]float64{}}, true
		for _, pid := range h.PIDs {
			one := all[pid][at]
			if whole = one != nil; !whole {
				break
			}
			now.looks += one.looks
			for p, threads := range one.busy {
				if p.account != Pipe { // it waits for the next question
					now.busy[p] += threads
				}
			}
		}
		if whole {
			h.found[at] = now
		}
	}
	h.seen = float64(len(h.found))
	for _, at := range slices.Sorted(maps.Keys(h.found)) {
		for p, threads := range h.found[at].busy {
			h.always.busy[p] += threads / h.seen
		}
	}
	h.Busy = h.always.threads()
}

// mostIn is the call in which processes were found most; "" on a CPU.
func mostIn(r *recording.Recording, pids []int) (call string) {
	in := map[string]uint64{}
	for _, row := range r.ThreadStates {
		if slices.Contains(pids, row.PID) {
			in[row.Call] += row.N
		}
	}
	for name, n := range in {
		if n > in[call] || n == in[call] && name < call {
			call = name
		}
	}
	return call
}

// helped books requests for which nobody in a service works to its helpers, and what is more than
// these to the line before them, as far as none is free. Of a second in which nobody looked at
// them their average is taken: they are woken for each answer, all the time. It returns the rest.
func (d demand) helped(at int, rest float64) float64 {
	for _, h := range d.helpers {
		now, looked := h.found[at]
		if !looked {
			now = h.always
		}
		work, n := now.threads(), float64(len(h.PIDs))
		if work == 0 {
			continue
		}
		served := min(rest, work)
		line := (rest - served) * math.Pow(min(1, work/n), n)
		for _, p := range now.places() {
			part := now.busy[p] / work
			d.party.add(Entry{Account: p.account, Where: p.where, Seconds: (served + line) * part, InLine: line * part, Looks: now.looks})
		}
		h.Seconds, h.InLine = h.Seconds+served, h.InLine+line
		rest -= served + line
	}
	return rest
}
