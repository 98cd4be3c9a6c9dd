package ledger

import (
	"math"
	"slices"
	"sort"

	"snag/recording"
	"snag/scene"
)

// Helpers are processes that a service started and asks over pipes or pairs of sockets, which
// have no address: a filter of URLs, a checker of passwords. They are told by their parent and
// by how often they are woken: once for each answer or more.
type Helpers struct {
	Party *Party
	Comm  string
	PIDs  []int
	// Busy is how many of them were at work at a moment, on average, of the seconds in which all
	// were looked at; Seconds are the request-seconds that they took, InLine those before them.
	Busy, Seconds, InLine float64
	Call                  string // in which they were found most

	seen  float64 // seconds
	doing looks
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
			by[comm] = &Helpers{Party: p, Comm: comm, doing: all}
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
	}
	return out
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
// these to the line before them, as far as none is free. It returns the rest.
func (d demand) helped(at int, rest float64) float64 {
	for _, h := range d.helpers {
		busy, n := map[place]float64{}, float64(len(h.PIDs))
		looked := true
		work, looks := 0.0, uint64(0)
		for _, pid := range h.PIDs {
			one := h.doing[pid][at]
			if looked = one != nil; !looked {
				break
			}
			looks += one.looks
			for p, threads := range one.busy {
				if p.account != Pipe { // it waits for the next question
					busy[p] += threads
					work += threads
				}
			}
		}
		if !looked {
			continue
		}
		h.Busy, h.seen = h.Busy+work, h.seen+1
		if work == 0 {
			continue
		}
		served := min(rest, work)
		line := (rest - served) * math.Pow(min(1, work/n), n)
		var places []place
		for p := range busy {
			places = append(places, p)
		}
		sort.Slice(places, func(i, j int) bool {
			return places[i].account < places[j].account || places[i].account == places[j].account && places[i].where < places[j].where
		})
		for _, p := range places {
			part := busy[p] / work
			d.party.add(Entry{Account: p.account, Where: p.where, Seconds: (served + line) * part, InLine: line * part, Looks: looks})
		}
		h.Seconds, h.InLine = h.Seconds+served, h.InLine+line
		rest -= served + line
	}
	return rest
}
