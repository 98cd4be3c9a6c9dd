package streams

import (
	"fmt"
	"time"

	"snag/internal/calls"
	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// heldInPipe are the seconds in which a thread waited in a write to a pipe all the time, while the requests of its
// service had no thread: goroutines and coroutines wait for the lock of a log in places that no look at threads shows.
type heldInPipe struct {
	active       []recording.Interval
	share        float64 // of the request-seconds of the window that were open then
	open, others float64 // requests at the ends of these seconds, and of the others
}

const (
	allLooks    = 0.8 // of a second's looks found the thread there
	heldFor     = 2   // such seconds at the least, and as many others
	timesAsMany = 3   // requests are open then as at other times
	withoutOne  = 0.5 // of the requests' time, no thread worked for them
)

// heldBy is nil where requests are open at other times too, or threads are seen to work for them.
func heldBy(s *scene.Scene, r *recording.Recording, party *ledger.Party, pipe pipeOf) *heldInPipe {
	parked := 0.0
	for _, e := range party.Entries {
		if e.Account == ledger.Parked {
			parked = e.Seconds
		}
	}
	if party.Demand <= 0 || parked < withoutOne*party.Demand {
		return nil
	}
	out := &heldInPipe{}
	for _, row := range r.ThreadStates {
		if row.PID == pipe.pid && row.FD == pipe.fd && row.Inode == pipe.inode && row.State == "S" && calls.Of(row.Call)&calls.Writes != 0 && row.Looks > 0 && float64(row.N) >= allLooks*float64(row.Looks) {
			out.active = append(out.active, measure.OneSecond(row.T))
		}
	}
	out.active = intervals.Merge(out.active, measure.Joined)
	held, other := 0.0, 0.0
	for _, v := range scene.Services(s, r, "serve") {
		if scene.IDOf(v.Subject) != scene.IDOf(party.Subject) {
			continue
		}
		for _, row := range v.Rows {
			if intervals.Cover(out.active, row.T.Add(time.Second/2)) {
				out.open, held = out.open+float64(row.Open), held+1
			} else {
				out.others, other = out.others+float64(row.Open), other+1
			}
		}
	}
	if held < heldFor || other < heldFor || out.open == 0 {
		return nil
	}
	out.share = out.open / (out.open + out.others)
	out.open, out.others = out.open/held, out.others/other
	if out.open < timesAsMany*out.others {
		return nil
	}
	return out
}

func (h *heldInPipe) evidence(fd int) suspect.Evidence {
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: h.share, Unit: "share", Source: source.Turns.And(source.ThreadState.As("states of its threads")), Origin: "turns",
		Text: fmt.Sprintf("for %s a thread of it was in a write to descriptor %d at nearly every look, and %.2g requests were open at a moment, %.2g at other times; no thread worked on them", units.Lasting(seconds(h.active)), fd, h.open, h.others)}
}

func seconds(all []recording.Interval) float64 { return intervals.Seconds(all, 0) }
