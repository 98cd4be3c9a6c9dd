package runtime

import (
	"fmt"
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// gcLog is the source of the events that a JVM's own log told.
const gcLog = "gc log"

// timedStops sums up the stops that one source timed and that count.
type timedStops struct {
	least      float64 // s; shorter ones do not count
	n          int
	total      float64 // s
	toStop     float64 // s of it until the last thread had stopped
	operations map[string]int
	askers     map[string]int
	// of the log: its collections, and what was done
	collections int
	work        map[string]int
	workTook    map[string]float64 // s
}

func (t *timedStops) add(e recording.Event, length float64) {
	if t.operations == nil {
		t.operations, t.askers = map[string]int{}, map[string]int{}
	}
	t.n++
	t.total += length
	if to, err := strconv.ParseFloat(e.Attrs["to_safepoint"], 64); err == nil {
		t.toStop += to
	}
	if op := e.Attrs["operation"]; op != "" {
		t.operations[op]++
	}
	if by := e.Attrs["asked_by"]; by != "" {
		t.askers[by]++
	}
}

func (t *timedStops) did(what string, length float64) {
	if t.work == nil {
		t.work, t.workTook = map[string]int{}, map[string]float64{}
	}
	t.work[what]++
	t.workTook[what] += length
}

// most is what was done that took the most time; "" of none.
func (t *timedStops) most() string { return mostOften(t.workTook) }

// andLonger says which of several stops count.
func andLonger(what string, n int, least float64) string {
	if least == 0 {
		return units.Plural(n, what)
	}
	return fmt.Sprintf("%s of %s and longer", units.Plural(n, what), units.Lasting(least))
}

// mostOften is the key that was counted most, or took most; "" of none.
func mostOften[N int | float64](counts map[string]N) string {
	best, n := "", N(0)
	for c, k := range counts {
		if k > n || k == n && c < best {
			best, n = c, k
		}
	}
	return best
}

// operation is what the threads were stopped for most often, by whoever told it.
func (j *standstill) operation() string {
	if op := mostOften(j.timed.operations); op != "" {
		return op
	}
	return mostOften(j.logged.operations)
}

// orderedBy reports who asks for an operation that none but commands ask for
// (diagnosticCommand.cpp, attachListener.cpp); "" of the others.
func orderedBy(operation string) string {
	switch operation {
	case "GC_HeapInspection", "HeapDumper", "PrintThreads":
		return "an operator or a tool (jcmd, jmap: " + operation + ")"
	}
	return ""
}

// timedEvidence is what the probes of libjvm and the log say beside the JVM's own
// counter: three accounts of the same stops.
func (j *standstill) timedEvidence() (all []suspect.Evidence) {
	counted := ""
	if j.counted {
		counted = " (by its counter it was paused for " + units.Lasting(j.stopped.Sum()) + ")"
	}
	if t := j.timed; t.n > 0 {
		text := "timed in its libjvm: " + t.words(counted)
		if by := mostOften(t.askers); by != "" {
			text += fmt.Sprintf("; asked for by %s in %d", by, t.askers[by])
		}
		all = append(all, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: t.total, Unit: "s", Source: source.Of("static probes of libjvm: safepoint__begin, vmops__begin, safepoint__end", source.SafepointTime), Origin: "libjvm", Text: text})
	}
	t := j.logged
	if t.n == 0 && t.collections == 0 {
		return all
	}
	var parts []string
	if t.n > 0 {
		parts = append(parts, t.words(counted))
	}
	if what := t.most(); what != "" {
		part := fmt.Sprintf("%s, %s in %d of them", andLonger("collection", t.collections, t.least), what, t.work[what])
		if cause := j.cause(); cause != "" {
			part += " (" + cause + ")"
		}
		parts = append(parts, part)
	}
	return append(all, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: t.total, Unit: "s", Source: source.File("its own log: -Xlog:gc,safepoint", source.SafepointTime), Origin: gcLog, Text: "in its own log: " + strings.Join(parts, "; ")})
}

func (t *timedStops) words(counted string) string {
	text := fmt.Sprintf("%s, %s in all%s, of it %s until the last thread had stopped", andLonger("stop", t.n, t.least), units.Lasting(t.total), counted, units.Lasting(t.toStop))
	if op := mostOften(t.operations); op != "" {
		text += fmt.Sprintf("; operation %s in %d of them", op, t.operations[op])
	}
	return text
}

// logOnly reports that all that is known of a JVM is the log that it wrote: neither its
// counters nor what waited at its sockets.
func (j *standstill) logOnly(r *recording.Recording) bool {
	_, looked := r.Measured("sockets.diag")
	return !j.counted && !looked && len(j.process.Sockets) == 0
}

// certain makes what the JVM's own log timed decisive: that it stood still is certain,
// and that nobody was seen to wait makes it a risk.
func certain(all []suspect.Evidence) []suspect.Evidence {
	for i := range all {
		if all[i].Origin == gcLog && all[i].Side == suspect.For {
			all[i].Grade = suspect.Decisive
		}
	}
	return all
}
