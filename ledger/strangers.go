package ledger

import (
	"slices"

	"snag/recording"
	"snag/scene"
)

// Strangers are the processes that have a service's connections and at whose threads nobody
// looked: those that it starts for each client may end before anybody does. What is known of
// them is the state that they were listed with.
type Strangers struct {
	Processes     []*scene.Process
	Looks, Asleep int // how often they were listed, and how often so in an uninterruptible sleep

	share  float64 // of the service's connections that they have
	sleeps Account // what they sleep for
}

// pressed is the share of the time from which somebody waits for a disk so much that an
// uninterruptible sleep of which nothing else is known is taken to be that.
const pressed = 0.2

// strangersOf looks at who has the connections that a listener took.
func strangersOf(s *scene.Scene, r *recording.Recording, listener recording.Subject, all looks) (out Strangers) {
	rows, strange := 0, 0
	for _, k := range s.Sockets {
		if k.Listener == nil || k.Listener.ID != scene.IDOf(listener) {
			continue
		}
		for _, row := range k.Rows {
			if row.State != "ESTABLISHED" || len(row.Owners) == 0 {
				continue
			}
			if rows++; slices.ContainsFunc(row.Owners, func(o recording.FDRef) bool { return len(all[o.PID]) > 0 }) {
				continue
			}
			strange++
			for _, o := range row.Owners {
				if p := s.Process(o.PID); p != nil && !slices.Contains(out.Processes, p) {
					out.Processes = append(out.Processes, p)
				}
			}
		}
	}
	if strange > 0 {
		out.share, out.sleeps = float64(strange)/float64(rows), sleepsIn(s, r)
	}
	for _, p := range out.Processes {
		for _, row := range p.Rows {
			if out.Looks++; row.State == "D" {
				out.Asleep++
			}
		}
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

// bookStrangers books the part of requests for which the threads that were looked at do not work
// to the strangers who have their connections, and returns the rest.
func (p *Party) bookStrangers(rest float64) float64 {
	x, asleep := p.Strangers, 0.0
	if x.Asleep >= fewSeen {
		asleep = float64(x.Asleep) / float64(x.Looks)
	}
	n := rest * x.share
	p.add(Entry{Account: x.sleeps, Seconds: n * asleep, Looks: uint64(x.Looks)})
	p.add(Entry{Account: Unseen, Seconds: n * (1 - asleep)})
	return rest - n
}
