package logs

import (
	"cmp"
	"strconv"

	"snag/internal/sorting"
	"snag/recording"
)

// runKey is what lines tell of whom.
type runKey struct{ what, subject, host, process string }

// run is lines that tell the same, one soon after the other.
type run struct {
	first, last int64
	n           uint64
	level       level
	pid         int
	sub         recording.Subject
}

// runs makes events of lines: a thousand resets of one peer within a second are one.
type runs struct {
	file string
	out  recording.Sink
	open map[runKey]*run
	kept int
	left uint64 // lines beyond mostEvents
}

const (
	// together: lines of the same that are no further apart are one event.
	together = int64(2e9)
	// mostEvents of a file, and mostOpen at the same time.
	mostEvents = 20_000
	mostOpen   = 10_000
)

func newRuns(file string, out recording.Sink) *runs {
	return &runs{file: file, out: out, open: map[runKey]*run{}}
}

// add takes a line that tells something.
func (r *runs) add(e *entry, sub recording.Subject, subject []byte) {
	key := runKey{e.what, string(subject), string(e.host), string(e.process)}
	have := r.open[key]
	if have != nil && e.at-have.last <= together && have.last-e.at <= together {
		have.n++
		have.first, have.last = min(have.first, e.at), max(have.last, e.at)
		have.level = max(have.level, e.level)
		return
	}
	if have != nil {
		r.close(key, have)
	}
	if len(r.open) >= mostOpen {
		r.sweep(e.at)
	}
	if len(r.open) >= mostOpen {
		r.left++
		return
	}
	r.open[key] = &run{e.at, e.at, 1, e.level, e.pid, sub}
}

// sweep closes what is over.
func (r *runs) sweep(now int64) {
	r.closeAll(func(have *run) bool { return now-have.last > together })
}

func (r *runs) end() { r.closeAll(func(*run) bool { return true }) }

// closeAll closes runs in the order of their beginnings: which are kept where there are
// too many must not be chance.
func (r *runs) closeAll(over func(*run) bool) {
	var keys []runKey
	for key, have := range r.open {
		if over(have) {
			keys = append(keys, key)
		}
	}
	sorting.By(keys, func(a, b runKey) int {
		return cmp.Or(cmp.Compare(r.open[a].first, r.open[b].first), cmp.Compare(a.what, b.what), cmp.Compare(a.subject, b.subject), cmp.Compare(a.process, b.process), cmp.Compare(a.host, b.host))
	})
	for _, key := range keys {
		r.close(key, r.open[key])
	}
}

var levels = map[level]string{info: "info", warning: "warning", wrong: "error"}

func (r *runs) close(key runKey, have *run) {
	delete(r.open, key)
	if r.kept++; r.kept > mostEvents {
		r.left += have.n
		return
	}
	attrs := map[string]string{"what": key.what, "file": r.file}
	for name, value := range map[string]string{"host": key.host, "process": key.process, "level": levels[have.level]} {
		if value != "" {
			attrs[name] = shown(value)
		}
	}
	if have.pid > 0 {
		attrs["pid"] = strconv.Itoa(have.pid)
	}
	r.out.Append(recording.Event{
		T: recording.Time(have.first), End: recording.Time(have.last), Kind: recording.EventLogLine,
		Subject: have.sub, Attrs: attrs, Value: float64(have.n), Unit: "lines",
	})
}
