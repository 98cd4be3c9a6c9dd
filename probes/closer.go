package probes

import (
	"fmt"
	"time"

	"snag/internal/procroot"
	"snag/probes/probe"
	"snag/recording"
)

// Look is a process that the costly probes shall look at, and why.
type Look struct {
	PID int
	Why string
	// Start is when the process that is meant began (recording.Process); 0 is not known.
	// Another that has its number by now is not meant.
	Start recording.Time
}

// A find looks wide before it digs: what the cheap probes saw in the first part of
// the window says where the costly ones look in the rest.
const (
	wideShare = 0.4              // of the window
	wideMost  = 10 * time.Second // of a long one: by then what hurts all the time has shown itself
	wideLeast = 2 * time.Second
	// againEach, or a tenth of the window: what shows itself later is looked at closer
	// from then on.
	againEach = 4 * time.Second
)

// Closest processes are looked at by the costly probes: the most pressing.
const Closest = 8

// askTimes are when the remaining suspects are asked for, from the start of a window;
// none where it is too short for two parts.
func askTimes(window time.Duration) []time.Duration {
	var out []time.Duration
	at := max(wideLeast, min(time.Duration(wideShare*float64(window)), wideMost))
	// A judgement reads all that was recorded: in an hour it is not asked for each few
	// seconds.
	each := max(againEach, window/10)
	for ; window-at >= wideLeast; at += each {
		out = append(out, at)
	}
	return out
}

// lookCloser asks after the first part of the window, and again every few seconds
// while there is time to look, and gives the answer to the costly probes. done is
// closed when the recording ends.
func lookCloser(env *probe.Env, p Plan, done <-chan struct{}) {
	if p.Remaining == nil {
		return
	}
	begun := time.Now()
	looked, left := map[int]bool{}, 0
	for _, at := range askTimes(p.For) {
		select {
		case <-done:
			tellLeft(env, left)
			return
		case <-time.After(time.Until(begun.Add(at))):
		}
		left = lookAt(env, looked, p.Remaining())
	}
	tellLeft(env, left)
}

// lookAt has the costly probes look at processes that they do not look at yet, and
// returns for how many there was no room.
func lookAt(env *probe.Env, looked map[int]bool, looks []Look) (left int) {
	for _, l := range looks {
		switch {
		case looked[l.PID], !isStill(env, l):
		case len(looked) >= Closest || !env.Closer.Add(l.PID, l.Why):
			left++
		default:
			looked[l.PID] = true
			env.Sink.Append(recording.Fact{T: env.Now(), Name: fmt.Sprintf("snag.closer.%d", l.PID), Value: l.Why, Source: "the verdict so far"})
		}
	}
	return left
}

// isStill reports whether the process that a look is meant for still has its number.
func isStill(env *probe.Env, l Look) bool {
	if l.Start == 0 {
		return true
	}
	start, err := procroot.StartTime(env.Proc, l.PID)
	// Both come from the same count of ticks; the anchor's conversion is exact.
	return err == nil && env.Anchor.FromBoottime(int64(start)*(1e9/procroot.UserHZ)) == l.Start
}

// tellLeft notes how many processes were worth a closer look and got none.
func tellLeft(env *probe.Env, left int) {
	if left > 0 {
		env.Sink.Append(recording.Fact{T: env.Now(), Name: "snag.closer.left", Value: fmt.Sprint(left), Source: "the verdict so far"})
	}
}

// tellSpent notes what the costly probes took of the machine.
func tellSpent(env *probe.Env) {
	if env.Closer.Empty() {
		return
	}
	now := env.Now()
	env.Sink.Append(recording.Fact{T: now, Name: "snag.budget", Value: fmt.Sprintf("%g", env.Budget.Share()), Source: "--budget"})
	for name, seconds := range env.Budget.Spent() {
		env.Sink.Append(recording.Fact{T: now, Name: "snag.spent." + name, Value: fmt.Sprintf("%.4f", seconds), Source: "run time of its programs, as measured, with 50 ns for the way to each run, and its own CPU time, seconds"})
	}
}
