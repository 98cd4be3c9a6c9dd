package probes

import (
	"fmt"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// Look is a process that the costly probes shall look at, and why.
type Look struct {
	PID int
	Why string
}

// A find looks wide before it digs: what the cheap probes saw in the first part of
// the window says where the costly ones look in the rest.
const (
	wideShare = 0.4              // of the window
	wideMost  = 10 * time.Second // of a long one: by then what hurts all the time has shown itself
	wideLeast = 2 * time.Second
	// closest processes are looked at by the costly probes: the most pressing.
	closest = 8
)

// askAt is when the remaining suspects are asked for; 0: the window is too short
// for two parts.
func askAt(window time.Duration) time.Duration {
	at := max(wideLeast, min(time.Duration(wideShare*float64(window)), wideMost))
	if window-at < wideLeast {
		return 0
	}
	return at
}

// lookCloser asks once, after the first part of the window, and gives the answer to
// the costly probes. done is closed when the recording ends: who is named later is
// not looked at.
func lookCloser(env *probe.Env, p Plan, done <-chan struct{}) {
	at := askAt(p.For)
	if p.Remaining == nil || at == 0 {
		return
	}
	select {
	case <-done:
		return
	case <-time.After(at):
	}
	looks := p.Remaining()
	select {
	case <-done:
		return
	default:
	}
	for i, l := range looks {
		if i == closest {
			env.Sink.Append(recording.Fact{T: env.Now(), Name: "snag.closer.left", Value: fmt.Sprint(len(looks) - i), Source: "the verdict so far"})
			break
		}
		if env.Closer.Add(l.PID, l.Why) {
			env.Sink.Append(recording.Fact{T: env.Now(), Name: fmt.Sprintf("snag.closer.%d", l.PID), Value: l.Why, Source: "the verdict so far"})
		}
	}
}

// tellSpent notes what the costly probes took of the machine.
func tellSpent(env *probe.Env) {
	if len(env.Closer.PIDs()) == 0 {
		return
	}
	now := env.Now()
	env.Sink.Append(recording.Fact{T: now, Name: "snag.budget", Value: fmt.Sprintf("%g", env.Budget.Share()), Source: "--budget"})
	for name, seconds := range env.Budget.Spent() {
		env.Sink.Append(recording.Fact{T: now, Name: "snag.spent." + name, Value: fmt.Sprintf("%.4f", seconds), Source: "run_time_ns of its programs and its own CPU time, seconds"})
	}
}
