package streams

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
)

// blockedIn is how long one thread of a process was off the CPU in calls of a kind, by
// the scheduler's own word.
type blockedIn struct {
	tid      int // 0: threads taken together
	comm     string
	call     string
	fd       int    // -1 unknown
	function string // the program's functions that made the call; "" not known
	waker    string // who ended the longest: "comm[pid]"; "" not known
	n        uint64
	sum, max float64 // s
	// looked is how much of the time in question the scheduler was watched, s.
	looked float64
}

// share of the time that was watched.
func (b *blockedIn) share() float64 { return min(1, b.sum/max(b.looked, 1e-9)) }

// blockedOf is the thread that was blocked longest in calls that pass, in the time
// given; nil where nobody watched, or none was.
func blockedOf(p *scene.Process, r *recording.Recording, within []recording.Interval, window recording.Interval, pass func(recording.OffCPU) bool) *blockedIn {
	watched, ok := measure.WatchedWaits(p, r, window)
	if !ok {
		return nil
	}
	by := map[int]*blockedIn{}
	stacks := map[int]int{}
	for _, row := range r.OffCPU {
		if row.PID != p.Subject.PID || row.Reason == recording.WaitRunQueue || row.Reason == recording.WaitStopped || !waitedIn(row, within) || !pass(row) {
			continue
		}
		b := by[row.TID]
		if b == nil {
			b = &blockedIn{tid: row.TID, fd: -1}
			by[row.TID] = b
		}
		b.n += row.N
		b.sum += row.Sum
		if row.Max < b.max {
			continue
		}
		b.max, b.comm, b.call, stacks[row.TID] = row.Max, row.Comm, row.Call, row.Stack
		if row.FD != nil {
			b.fd = *row.FD
		}
		b.waker = row.WakerComm
		if row.WakerPID != 0 {
			b.waker = fmt.Sprintf("%s[%d]", row.WakerComm, row.WakerPID)
		}
	}
	var best *blockedIn
	for _, b := range by {
		if best == nil || b.sum > best.sum || b.sum == best.sum && b.tid < best.tid {
			best = b
		}
	}
	if best == nil {
		return nil
	}
	best.function = measure.OwnFunctions(r, stacks[best.tid])
	best.looked = intervals.Overlap(within, []recording.Interval{watched}, window.End).Seconds()
	return best
}

// waitedIn reports whether a row's waits, or the longest of them, lie in the time.
func waitedIn(row recording.OffCPU, within []recording.Interval) bool {
	if intervals.Cover(within, row.T) {
		return true
	}
	if row.MaxAt == 0 {
		return false
	}
	end := recording.Time(float64(row.MaxAt) + row.Max*1e9)
	for _, i := range within {
		if row.MaxAt <= i.End && end >= i.Start || i.End == 0 && end >= i.Start {
			return true
		}
	}
	return false
}

// who is the thread, and the function that made the call.
func (b *blockedIn) who() string {
	text := "its threads"
	if b.tid != 0 {
		text = fmt.Sprintf("its thread %d (%s)", b.tid, b.comm)
	}
	if b.function != "" {
		text += " in " + b.function
	}
	return text
}

// text says how long it was blocked; on is what the descriptor is.
func (b *blockedIn) text(on string) string {
	t := fmt.Sprintf("%s was blocked in %s on descriptor %d (%s) for %s of %s that it was watched, at the longest %s", b.who(), b.call, b.fd, on, units.Lasting(b.sum), units.Lasting(b.looked), units.Lasting(b.max))
	if b.waker == "interrupt" {
		t += "; woken by the network"
	} else if b.waker != "" {
		t += "; woken by " + b.waker
	}
	return t
}
