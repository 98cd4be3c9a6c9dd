package gclog

import (
	"container/heap"
	"fmt"
	"strconv"
	"time"

	"snag/internal/gclog"
	"snag/readers/reader"
	"snag/recording"
	"snag/recording/jvmlog"
)

// mostEvents of a log are kept, the longest: of those that are left out the count and
// the longest are told. Years of a log have tens of millions.
const mostEvents = 20_000

// beganAnew is by how much the uptime goes back where another JVM began to write.
const beganAnew = 5 * time.Second

// log gathers what one file tells.
type log struct {
	sub     recording.Subject
	changed recording.Time // of the file
	clock   jvmlog.Clock
	flags   string
	lines   uint64

	first   gclog.Stamp // of its first line
	kept    longest
	left    uint64
	over    time.Duration // the longest that was left out
	untimed uint64

	uptime time.Duration // the newest
	shift  time.Duration // added to the uptime: JVMs that wrote before this one
	anew   int
	walls  bool // some line has a time of day
	guess  bool // times are by the file's last change

	pauses, safepoints, stalls sums
	reach                      time.Duration
	waiting                    union
	threads                    map[string]bool
}

// sums of one kind of event.
type sums struct {
	n       uint64
	total   time.Duration
	longest time.Duration
}

func (s *sums) add(d time.Duration) {
	s.n++
	s.total += d
	s.longest = max(s.longest, d)
}

func newLog(sub recording.Subject, changed recording.Time) *log {
	return &log{sub: sub, changed: changed, threads: map[string]bool{}}
}

// take keeps an event until the file's end, where it is known when the clock of its
// stamp was 0.
func (l *log) take(e *gclog.Event) {
	if e.Length < 0 || e.Kind == gclog.Stall && e.Generation != "" {
		return
	}
	switch e.Kind {
	case gclog.Pause:
		l.pauses.add(e.Length)
	case gclog.Safepoint:
		l.safepoints.add(e.Length)
		l.reach += max(e.Reach, 0)
	case gclog.Stall:
		l.stalls.add(e.Length)
		if len(l.threads) < mostThreads {
			l.threads[e.Thread] = true
		}
	default:
		return
	}
	if !e.Start.Known() {
		l.untimed++
		return
	}
	kept := *e
	l.place(&kept.Start, kept.Length)
	if e.Kind == gclog.Stall {
		l.waiting.add(instant(kept.Start), instant(kept.Start)+int64(e.Length))
	}
	if len(l.kept) < mostEvents {
		heap.Push(&l.kept, kept)
		return
	}
	if l.left++; kept.Length > l.kept[0].Length {
		kept, l.kept[0] = l.kept[0], kept
		heap.Fix(&l.kept, 0)
	}
	l.over = max(l.over, kept.Length)
}

// mostThreads are counted.
const mostThreads = 10_000

// instant is a stamp on any one of its clocks: two of them on the same are comparable.
func instant(s gclog.Stamp) int64 {
	switch {
	case s.HasWall:
		return s.Wall
	case s.HasUptime:
		return int64(s.Uptime)
	}
	return s.Nanos
}

// place notes what a stamp says of the log's clocks, and puts the uptime of a JVM that
// began to write to the same file after another behind that one's.
func (l *log) place(s *gclog.Stamp, length time.Duration) {
	l.walls = l.walls || s.HasWall
	if s.HasUptime {
		if s.Uptime+length+l.shift+beganAnew < l.uptime {
			l.shift, l.anew = l.uptime, l.anew+1
		}
		s.Uptime += l.shift
		l.uptime = max(l.uptime, s.Uptime+length)
	}
	if s.HasWall && s.HasUptime { // exact, for lines without the one
		l.clock.Uptime = jvmlog.Earlier(l.clock.Uptime, recording.Time(s.Wall).Add(-s.Uptime))
	}
	if s.HasWall && s.HasNanos {
		l.clock.Nanos = jvmlog.Earlier(l.clock.Nanos, recording.Time(s.Wall).Add(-time.Duration(s.Nanos)))
	}
}

// lastLine notes the newest stamp of a piece, whatever its line tells: the file was
// changed last with it.
func (l *log) lastLine(piece []byte) {
	if s := gclog.LastStamp(piece); s.Known() {
		l.place(&s, 0)
		if s.HasNanos && !s.HasWall {
			l.clock.Nanos = 0
			l.clock.Join(gclog.Stamp{Nanos: s.Nanos, HasNanos: true}, l.changed)
		}
	}
}

// end writes the events and says what was measured.
func (l *log) end(file string, out recording.Sink) reader.Told {
	if !l.walls && l.uptime > 0 {
		l.guess = true
		l.clock.Uptime = l.changed.Add(-l.uptime)
	}
	l.guess = l.guess || !l.walls && l.clock.Nanos != 0
	told := reader.Told{Lines: l.lines}
	for i := range l.kept {
		e, ok := jvmlog.Event(&l.kept[i], &l.clock, l.sub)
		if !ok {
			l.untimed++
			continue
		}
		if told.First == 0 || e.T < told.First {
			told.First = e.T
		}
		told.Last = max(told.Last, e.End)
		out.Append(e)
	}
	if t, ok := l.clock.At(l.first); ok {
		told.First = jvmlog.Earlier(told.First, t)
	}
	if l.guess && l.clock.Uptime != 0 {
		told.First, told.Last = jvmlog.Earlier(told.First, l.clock.Uptime), max(told.Last, l.changed)
	}
	out.Append(recording.Process{T: told.First, PID: l.sub.PID, Comm: l.sub.Comm, State: "?"})
	told.Coverage = []recording.Coverage{l.coverage(told.First)}
	told.Facts = l.facts(file, told.First)
	return told
}

func (l *log) facts(file string, t recording.Time) (all []recording.Fact) {
	name := "jvm." + strconv.Itoa(l.sub.PID) + ".gc-log"
	fact := func(of, value string) {
		all = append(all, recording.Fact{T: t, Name: name + of, Value: value, Source: file})
	}
	fact("", file)
	if l.flags != "" {
		all = append(all, recording.Fact{T: t, Name: "jvm." + strconv.Itoa(l.sub.PID) + ".flags", Value: l.flags, Source: file})
	}
	words := func(s sums) string {
		return fmt.Sprintf("%d, %.3f s in all, %.3f s the longest", s.n, s.total.Seconds(), s.longest.Seconds())
	}
	if l.pauses.n > 0 {
		fact(".pauses", words(l.pauses))
	}
	if l.safepoints.n > 0 {
		fact(".safepoints", words(l.safepoints)+fmt.Sprintf("; %.3f s of it until the last thread had stopped", l.reach.Seconds()))
	}
	if l.stalls.n > 0 {
		fact(".allocation-stalls", fmt.Sprintf("%d of %d threads, %.3f s the longest; for %.3f s one of them at least waited", l.stalls.n, len(l.threads), l.stalls.longest.Seconds(), l.waiting.length().Seconds()))
	}
	return all
}

// coverage says what the log tells and what not.
func (l *log) coverage(since recording.Time) recording.Coverage {
	c := recording.Coverage{Probe: "jvm.gc-log", State: recording.CoverageOK, Since: since}
	say := func(format string, args ...any) {
		c.State = recording.CoveragePartial
		if c.Why != "" {
			c.Why += "; "
		}
		c.Why += fmt.Sprintf(format, args...)
	}
	const cure = "-Xlog:gc*,safepoint:file=gc.log:time,uptime"
	if l.guess {
		say("its lines have the uptime alone: times are by the file's last change")
		c.Cure = "snag read --offset FILE=SECONDS; " + cure
	}
	if l.anew > 0 && !l.walls {
		say("%d times another JVM began to write to it: how long none ran is not known", l.anew)
	}
	if l.untimed > 0 {
		c.Lost = l.untimed
		say("%d lines have no time", l.untimed)
		c.Cure = cure
	}
	if l.left > 0 {
		say("the %d shortest pauses and waits are not events, none over %s", l.left, l.over)
	}
	if l.safepoints.n == 0 {
		say("safepoints are not in it: stops without a collection, and the time until all threads stand, are not seen")
		c.Cure = cure
	}
	return c
}

// longest is a heap of events, the shortest first.
type longest []gclog.Event

func (l longest) Len() int           { return len(l) }
func (l longest) Less(i, j int) bool { return l[i].Length < l[j].Length }
func (l longest) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }

// Push is heap.Interface's.
func (l *longest) Push(x any) { *l = append(*l, x.(gclog.Event)) }

// Pop is heap.Interface's; events are only replaced.
func (l *longest) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}
