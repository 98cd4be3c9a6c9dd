package host

import (
	"fmt"
	"sort"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// insteadOf is who ran while threads of a process were ready, told by the scheduler.
type insteadOf struct {
	n       int
	longest float64 // s
	who     string  // "comm[pid]", who ran most often; "idle": nobody
	times   int     // of n, that it did
}

// ranInstead reads the events of long waits for a CPU; false where there is none.
func ranInstead(r *recording.Recording, pid int) (insteadOf, bool) {
	var out insteadOf
	who := map[string]int{}
	for _, e := range r.Events {
		if e.Kind != recording.EventRunDelay || e.Subject.PID != pid {
			continue
		}
		out.n++
		out.longest = max(out.longest, e.Value)
		who[e.Attrs["ran"]]++
	}
	names := make([]string, 0, len(who))
	for name := range who {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if who[name] > out.times {
			out.who, out.times = name, who[name]
		}
	}
	return out, out.n > 0
}

// fewDelays long waits for a CPU tell whom it waits for.
const fewDelays = 3

// instead is who ran while the process waited.
func (w cpuWait) instead(r *recording.Recording) (suspect.Evidence, bool) {
	in, ok := ranInstead(r, w.process.Subject.PID)
	if !ok {
		return suspect.Evidence{}, false
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: in.longest, Unit: "s", Source: source.Of("sched_switch (events run-delay)", source.RunDelays), Origin: "who ran",
		Text: fmt.Sprintf("%s a thread of it was ready for 50 ms and more, at the longest %s", units.Plural(in.n, "time"), units.Lasting(in.longest))}
	if in.who == "idle" || in.who == "" {
		e.Text += "; its CPU was idle before it came: a quota or its class delayed it"
		return e, true
	}
	if in.n >= fewDelays && 2*in.times >= in.n {
		e.Grade = suspect.Strong
	}
	e.Text += fmt.Sprintf("; %s ran instead, in %s of them", in.who, units.Count(float64(in.times)))
	return e, true
}
