package logs

import (
	"time"

	"snag/recording"
)

// freezes are streams that stood still by the words of a log: lines that a map of the
// user's names freeze and unfreeze, or freeze with its length.
type freezes struct {
	out  recording.Sink
	file string
	open map[string]int64 // by stream, since when; ns
	n    uint64
}

// mostStreams of a file that freeze.
const mostStreams = 1000

// entry takes a line; true where it is about a freeze, which is an event of its own.
func (f *freezes) entry(e *entry, host string) bool {
	if len(e.stream) == 0 || e.what != freeze && e.what != unfreeze {
		return false
	}
	name := shown(string(e.stream))
	began, open := f.open[name]
	switch {
	case e.what == freeze && e.lasted > 0: // told when it was over
		f.tell(name, host, e.at-int64(e.lasted*1e9), e.at)
	case e.what == freeze && !open && len(f.open) < mostStreams:
		f.open[name] = e.at
	case e.what == unfreeze && open:
		delete(f.open, name)
		f.tell(name, host, began, e.at)
	}
	return true
}

func (f *freezes) tell(name, host string, from, to int64) {
	if f.n++; f.n > mostEvents {
		return
	}
	f.out.Append(recording.Event{
		T: recording.Time(from), End: recording.Time(to), Kind: recording.EventStreamFreeze,
		Subject: recording.Subject{Kind: recording.KindStream, Name: name, Host: host}, Attrs: map[string]string{"file": f.file},
		Value: time.Duration(to - from).Seconds(), Unit: "s",
	})
}

// end leaves those that still stand open until the log's end.
func (f *freezes) end(last int64) {
	for name, began := range f.open {
		f.tell(name, "", began, last)
	}
}
