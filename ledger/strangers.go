package ledger

import (
	"slices"

	"snag/recording"
	"snag/scene"
)

// strangers are the processes that have a service's connections and at whose threads nobody
// looked: those that it starts for each client may end before anybody does. What is known of
// them is the state that they were listed with.
type strangers struct {
	share float64             // of the service's connections that they have
	in    map[Account]float64 // the parts of their time; what is missing was not seen
	looks uint64
}

// pressed is the share of the time from which somebody waits for a disk so much that an
// uninterruptible sleep of which nothing else is known is taken to be that.
const pressed = 0.2

// strangersOf looks at who has the connections that a listener took.
func strangersOf(s *scene.Scene, r *recording.Recording, listener recording.Subject, all looks) strangers {
	rows, strange := 0, 0
	var pids []int
	for _, k := range s.Sockets {
		if k.Listener == nil || k.Listener.ID != scene.IDOf(listener) {
			continue
		}
		for _, row := range k.Rows {
			if row.State != "ESTABLISHED" || len(row.Owners) == 0 {
				continue
			}
			rows++
			if slices.ContainsFunc(row.Owners, func(o recording.FDRef) bool { return len(all[o.PID]) > 0 }) {
				continue
			}
			strange++
			for _, o := range row.Owners {
				if !slices.Contains(pids, o.PID) {
					pids = append(pids, o.PID)
				}
			}
		}
	}
	if strange == 0 {
		return strangers{}
	}
	out := strangers{share: float64(strange) / float64(rows), in: map[Account]float64{}}
	asleep := 0.0
	for _, pid := range pids {
		p := s.Process(pid)
		if p == nil {
			continue
		}
		for _, row := range p.Rows {
			out.looks++
			if row.State == "D" {
				asleep++
			}
		}
	}
	if asleep >= fewSeen {
		out.in[sleepsIn(s, r)] = asleep / float64(out.looks)
	}
	return out
}

// sleepsIn is what an uninterruptible sleep is for, by how much of the time somebody waits for
// a disk.
func sleepsIn(s *scene.Scene, r *recording.Recording) Account {
	for _, series := range r.Select("node_pressure_io_waiting_seconds_total") {
		if n, ok := series.Increase(); ok && n >= pressed*s.Window.Length(s.Window.End).Seconds() {
			return Disk
		}
	}
	return Kernel
}

// without books the part of requests for which the threads that were looked at do not work to
// the strangers who have their connections, and returns the rest.
func (d demand) without(rest float64) float64 {
	n := rest * d.strangers.share
	left := n
	for account, part := range d.strangers.in {
		d.party.add(Entry{Account: account, Seconds: n * part, Looks: d.strangers.looks})
		left -= n * part
	}
	d.party.add(Entry{Account: Unseen, Seconds: left})
	return rest - n
}
