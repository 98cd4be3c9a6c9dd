// Package gclog reads the logs that a JVM writes of its collections and safepoints:
// unified logging (-Xlog, JDK 9 and later) with any decorations, and what JDK 5 to 8
// print with -XX:+PrintGCDetails and -XX:+PrintGCApplicationStoppedTime. It is given
// bytes as they come and gives typed events; it does no I/O, keeps one line and one
// open collection, and takes no line for longer than it is.
//
// A line that it does not know is skipped: a log holds far more than pauses.
package gclog

import (
	"bytes"
	"strings"
	"time"
)

// Kind is what an Event tells.
type Kind uint8

// The kinds.
const (
	// Pause is work of the collector for which all threads of the program were
	// stopped. One may lie inside another: a young collection of the serial
	// collector that becomes a full one is both. Time to reach the safepoint is
	// not in it.
	Pause Kind = iota + 1
	// Safepoint is the time for which all threads stood still, from when they were
	// asked to (JDK 8 and 9 to 12: "Total time for which application threads were
	// stopped"; 13 and later: "Safepoint"). The pauses lie inside of them.
	Safepoint
	// Stall is one thread that waited for the collector to free memory (ZGC:
	// "Allocation Stall", "Relocation Stall"). The other threads went on.
	Stall
	// Concurrent is work of the collector beside the program.
	Concurrent
	// Collection is a whole cycle of a concurrent collector, with the heap before
	// and after it (ZGC: "Garbage Collection", "Major Collection").
	Collection
)

// Unknown is a length or a size that the log does not tell.
const Unknown = -1

// Stamp is when something was, by the clocks that the line was decorated with.
type Stamp struct {
	// Uptime is since the JVM began: os::elapsedTime, which sun.os.hrt.ticks of
	// hsperfdata counts too.
	Uptime time.Duration
	// Wall is nanoseconds since 1970, by CLOCK_REALTIME.
	Wall int64
	// Nanos is of "timenanos" or "uptimenanos": the log does not say of which where
	// it has one of them alone. The first is CLOCK_MONOTONIC on Linux.
	Nanos                        int64
	HasUptime, HasWall, HasNanos bool
}

// Known reports whether any clock was on the line.
func (s Stamp) Known() bool { return s.HasUptime || s.HasWall || s.HasNanos }

// before is the stamp a length earlier. Not before the JVM began: stamps are cut to
// milliseconds.
func (s Stamp) before(d time.Duration) Stamp {
	if d > 0 {
		s.Uptime = max(s.Uptime-d, 0)
		s.Wall -= int64(d)
		s.Nanos -= int64(d)
	}
	return s
}

// Event is one thing that the log tells. The strings are shared between events.
type Event struct {
	Kind   Kind
	Offset int64 // of the line's first byte, since the first byte that was fed
	// Start is exact to the line's stamp: most often a millisecond.
	Start  Stamp
	Length time.Duration // Unknown (-1 ns) where the line has none
	// Name is what was done, in the JVM's words: "Pause Young (Normal)", "Full GC";
	// of a Safepoint the operation ("G1CollectForAllocation"), "" where it is not
	// told; of a Stall "Allocation Stall".
	Name  string
	Cause string // "G1 Evacuation Pause", "System.gc()"; "" where it is not told
	// Collector is the collector that the log has named so far: "G1", "Serial",
	// "Parallel", "CMS", "ZGC", "Shenandoah", "Epsilon"; "" before that.
	Collector  string
	Generation string // "young" or "old" of generational ZGC; else ""
	Thread     string // of a Stall: the thread that waited
	ID         int    // GC(n); -1 where the line has none
	// Reach is the part of a Safepoint's length until the last thread had stopped.
	Reach time.Duration
	// Bytes of the heap in use, and of the heap. Unknown where the line has none.
	Before, After, Total int64
}

// Full reports whether a pause went over the whole heap with the program stopped.
func (e *Event) Full() bool {
	return e.Kind == Pause && strings.Contains(e.Name, "Full")
}

const (
	// mostLine is kept of a line; the longest known are CMS remarks of some 2 kB.
	mostLine = 64 << 10
	// mostNames are shared; a log with more (of threads) costs an allocation each.
	mostNames = 4096
	// mostRecord is how long a collection of JDK 8 may be in the log until it is
	// taken for one that was cut off: PrintHeapAtGC and ages make some 10 kB.
	mostRecord = 256 << 10
)

// Reader takes a log in pieces and reports what is in it. The zero value is ready.
type Reader struct {
	emit      func(*Event)
	tail      []byte // of a line that is not whole yet
	cut       bool   // the line was longer than mostLine
	at        int64  // offset of the line
	fed       int64
	names     map[string]string
	collector string
	operation string // of the safepoint that was entered (JDK 9 to 12)
	legacy    record
	event     Event
}

// Feed takes the next bytes of the log and calls emit for each event that they end.
// The event is valid until emit returns.
func (r *Reader) Feed(b []byte, emit func(*Event)) {
	r.emit = emit
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			r.keep(b)
			r.fed += int64(len(b))
			return
		}
		line := b[:end]
		if len(r.tail) > 0 {
			r.keep(line)
			line = r.tail
		}
		r.line(line)
		r.tail, r.cut = r.tail[:0], false
		b = b[end+1:]
		r.fed += int64(end + 1)
		r.at = r.fed
	}
}

// End reports what the log's last bytes held without a line's end, and a collection
// of JDK 8 whose details were awaited.
func (r *Reader) End(emit func(*Event)) {
	r.emit = emit
	if len(r.tail) > 0 {
		r.line(r.tail)
		r.tail = r.tail[:0]
	}
	r.flush()
}

// Collector is the collector that the log has named so far; "" of none.
func (r *Reader) Collector() string { return r.collector }

// Is reports which collector the log is of, for one whose beginning is not read.
func (r *Reader) Is(collector string) { r.collector = collector }

func (r *Reader) keep(b []byte) {
	room := mostLine - len(r.tail)
	if len(b) > room {
		b, r.cut = b[:room], true
	}
	r.tail = append(r.tail, b...)
}

func (r *Reader) line(line []byte) {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if r.cut || len(line) == 0 || len(line) > mostLine {
		return // half of a line may tell another number than the whole
	}
	switch {
	case r.legacy.open() || isLegacy(line):
		r.legacyLine(line)
	default:
		r.unifiedLine(line)
	}
}

// begin is a fresh event of the present line.
func (r *Reader) begin(kind Kind) *Event {
	r.event = Event{Kind: kind, Offset: r.at, Length: Unknown, Reach: Unknown, ID: -1, Before: Unknown, After: Unknown, Total: Unknown, Collector: r.collector}
	return &r.event
}

// share returns the bytes as a string that is made once.
func (r *Reader) share(b []byte) string {
	if s, ok := r.names[string(b)]; ok {
		return s
	}
	s := string(b)
	if r.names == nil {
		r.names = map[string]string{}
	}
	if len(r.names) < mostNames {
		r.names[s] = s
	}
	return s
}
