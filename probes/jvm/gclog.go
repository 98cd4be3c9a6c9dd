package jvm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"snag/internal/gclog"
	"snag/internal/procroot"
	"snag/internal/sorting"
	"snag/recording"
	"snag/recording/jvmlog"
)

const (
	measureLog = name + ".gc-log"
	cureLog    = "in its java arguments: -Xlog:gc*,safepoint:file=gc.log:time,uptime; or now: jcmd PID VM.log output=gc.log what=gc*,safepoint decorators=time,uptime"
	// mostLogs of a JVM are followed: some write collections and safepoints apart.
	mostLogs = 4
	// mostRead of a log is read in a second; a JVM at work writes some 10 kB.
	mostRead = 1 << 20
	// lookBack is read of what was there before, for a pause that was going on.
	lookBack = 64 << 10
	// headRead is where a log names its collector.
	headRead = 4 << 10
	// mostDescriptors of a process are looked at for a log.
	mostDescriptors = 4096
	// mostLogged events per second of a JVM are kept, the longest; none that is shorter
	// than shortest: ZGC's pauses are, and in number.
	mostLogged = 200
	shortest   = 100 * time.Microsecond
	// leftLong is how long one must be for that it is missed: a healthy collection is.
	leftLong = 50 * time.Millisecond
)

// journals follows the logs that JVMs write of their own collections.
type journals struct {
	proc    string
	now     func() recording.Time
	told    func(recording.Row) // takes facts
	since   recording.Time
	of      map[int][]*journal
	failed  map[int]error
	left    uint64 // events beyond mostLogged, of which the longest took
	longest time.Duration
	missed  uint64 // bytes that were written faster than they are read
	// untimed are events whose line has no clock.
	untimed  uint64
	followed int
	buf      []byte
}

// journal is one log that one JVM writes.
type journal struct {
	fd     string // /proc/PID/fd/N
	path   string
	file   *os.File
	ino    uint64
	at     int64
	reader gclog.Reader
	clock  jvmlog.Clock
}

func newJournals(proc string, now func() recording.Time, told func(recording.Row)) *journals {
	return &journals{proc: proc, now: now, told: told, since: now(), of: map[int][]*journal{}, failed: map[int]error{}}
}

// search looks for the logs that a JVM has open and that are not followed yet.
func (l *journals) search(pid int) {
	if len(l.of[pid]) >= mostLogs {
		return
	}
	first := len(l.of[pid]) == 0
	found, err := l.open(pid)
	if err != nil && comm(l.proc, pid) != "" {
		l.failed[pid] = err
		return
	}
	delete(l.failed, pid)
	for _, j := range found {
		if len(l.of[pid]) >= mostLogs || l.has(pid, j.ino) {
			j.file.Close()
			continue
		}
		j.begin()
		l.of[pid] = append(l.of[pid], j)
		l.told(recording.Fact{T: l.now(), Name: "jvm." + strconv.Itoa(pid) + ".gc-log", Value: strings.TrimSuffix(j.path, " (deleted)"), Source: j.fd})
	}
	if first && len(l.of[pid]) > 0 {
		l.followed++
	}
}

func (l *journals) has(pid int, ino uint64) bool {
	return slices.ContainsFunc(l.of[pid], func(j *journal) bool { return j.ino == ino })
}

// open finds the logs among the descriptors of a process. Those are the truth: what
// the arguments say may have been replaced (%p, %t), moved, or be of a container.
func (l *journals) open(pid int) ([]*journal, error) {
	base := l.proc + "/" + strconv.Itoa(pid)
	cmdline, err := os.ReadFile(base + "/cmdline")
	if err != nil {
		return nil, err
	}
	wanted := wantedLogs(string(cmdline))
	dir, err := os.Open(base + "/fd")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(mostDescriptors)
	var out []*journal
	for _, n := range names {
		fd := base + "/fd/" + n
		target, err := os.Readlink(fd)
		named := wanted.is(strings.TrimSuffix(target, " (deleted)")) || wanted.stdout && (n == "1" || n == "2")
		if err != nil || !strings.HasPrefix(target, "/") || !named && !maybeLog(target) || !l.writes(base+"/fdinfo/"+n) {
			continue
		}
		file, info, err := procroot.Regular(fd)
		if err != nil {
			if errors.Is(err, fs.ErrPermission) {
				return out, err
			}
			continue
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || !named && !looksLikeLog(file) || slices.ContainsFunc(out, func(j *journal) bool { return j.ino == st.Ino }) {
			file.Close()
			continue
		}
		out = append(out, &journal{fd: fd, path: target, file: file, ino: st.Ino})
	}
	return out, nil
}

// writes reports whether a descriptor is open for writing (fdinfo's flags are octal).
func (l *journals) writes(fdinfo string) bool {
	b, err := os.ReadFile(fdinfo)
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), "flags:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return false
	}
	flags, err := strconv.ParseUint(fields[0], 8, 64)
	return err == nil && flags&syscall.O_ACCMODE != syscall.O_RDONLY
}

// looksLikeLog tells by its first bytes.
func looksLikeLog(file *os.File) bool {
	_, collector, events := head(file)
	return collector != "" || events > 0
}

// head reads a log's beginning, where the JVM names its collector.
func head(file *os.File) (n int, collector string, events int) {
	b := make([]byte, headRead)
	n, _ = file.ReadAt(b, 0)
	var r gclog.Reader
	r.Feed(b[:n], func(*gclog.Event) { events++ })
	return n, r.Collector(), events
}

// begin starts at the end of what is there, less a little.
func (j *journal) begin() {
	_, collector, _ := head(j.file)
	j.reader.Is(collector)
	info, err := j.file.Stat()
	if err != nil || info.Size() <= lookBack {
		return
	}
	j.skipTo(info.Size() - lookBack)
}

// skipTo goes on with the first whole line from there on.
func (j *journal) skipTo(at int64) {
	b := make([]byte, 4096)
	n, _ := j.file.ReadAt(b, at)
	j.at = at + int64(bytes.IndexByte(b[:n], '\n')+1)
	collector := j.reader.Collector()
	j.reader = gclog.Reader{}
	j.reader.Is(collector)
}

// take reads what a JVM has logged since the last time. origin is when its ticks began
// by hsperfdata; 0 where that is not known.
func (l *journals) take(pid int, origin recording.Time, sub recording.Subject) []recording.Event {
	var out []recording.Event
	var kept []*journal
	for _, j := range l.of[pid] {
		take := func(e *gclog.Event) { out = l.keep(j, e, sub, out) }
		l.read(j, origin, take)
		info, err := os.Stat(j.fd)
		if st, ok := sysOf(info); err == nil && ok && st.Ino == j.ino {
			kept = append(kept, j)
			continue
		}
		l.read(j, origin, take) // what it wrote until it was rotated
		j.reader.End(take)
		j.file.Close()
		if next := l.rotated(pid, j); next != nil {
			j = next
			l.read(j, origin, take)
			kept = append(kept, j)
		}
	}
	if l.of[pid] = kept; len(kept) == 0 {
		delete(l.of, pid)
	}
	if len(out) > mostLogged {
		sorting.By(out, func(a, b recording.Event) int { return int(b.End.Sub(b.T) - a.End.Sub(a.T)) })
		l.left += uint64(len(out) - mostLogged)
		l.longest = max(l.longest, time.Duration(out[mostLogged].End.Sub(out[mostLogged].T)))
		out = out[:mostLogged]
	}
	sorting.By(out, func(a, b recording.Event) int { return int(a.T - b.T) })
	return out
}

func sysOf(info os.FileInfo) (*syscall.Stat_t, bool) {
	if info == nil {
		return nil, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return st, ok
}

// rotated opens the file that the JVM writes to after one that it has closed, from its
// beginning.
func (l *journals) rotated(pid int, old *journal) *journal {
	found, err := l.open(pid)
	if err != nil {
		return nil
	}
	var next *journal
	for _, j := range found {
		if next != nil || l.has(pid, j.ino) {
			j.file.Close()
			continue
		}
		next = j
		next.clock = old.clock
		next.reader.Is(old.reader.Collector())
	}
	return next
}

// keep adds what the log told, unless it was before the recording or has no time.
func (l *journals) keep(j *journal, e *gclog.Event, sub recording.Subject, out []recording.Event) []recording.Event {
	event, ok := jvmlog.Event(e, &j.clock, sub)
	switch {
	case ok && event.End > l.since && e.Length >= shortest:
		out = append(out, event)
	case !ok && !e.Start.Known():
		l.untimed++
	}
	return out
}

// read feeds what was written since the last time.
func (l *journals) read(j *journal, origin recording.Time, take func(*gclog.Event)) {
	info, err := j.file.Stat()
	if err != nil {
		return
	}
	switch size := info.Size(); {
	case size < j.at: // it was cut off
		j.skipTo(0)
		j.at = 0
	case size-j.at > mostRead:
		l.missed += uint64(size - j.at - mostRead)
		j.skipTo(size - mostRead)
	}
	if l.buf == nil {
		l.buf = make([]byte, 64<<10)
	}
	j.clock.Wall = l.now().Sub(recording.Time(time.Now().UnixNano()))
	j.clock.Uptime = jvmlog.Earlier(j.clock.Uptime, origin)
	// Twice the bound: what is written meanwhile waits for the next second.
	for read := 0; read < 2*mostRead; {
		n, err := j.file.ReadAt(l.buf, j.at)
		if n == 0 {
			break
		}
		if errors.Is(err, io.EOF) {
			j.clock.Join(gclog.LastStamp(l.buf[:n]), recording.Time(info.ModTime().UnixNano()).Add(j.clock.Wall))
		}
		j.reader.Feed(l.buf[:n], take)
		j.at += int64(n)
		read += n
		if err != nil {
			break
		}
	}
}

// forget lets go of a JVM that has ended.
func (l *journals) forget(pid int) {
	for _, j := range l.of[pid] {
		j.file.Close()
	}
	delete(l.of, pid)
	delete(l.failed, pid)
}

// coverage says whose logs were followed. jvms is how many JVMs there are, hidden how
// many of others may not be looked into.
func (l *journals) coverage(since recording.Time, jvms, hidden int) recording.Coverage {
	c := recording.Coverage{Probe: measureLog, State: recording.CoverageOK, Since: since}
	var why []string
	for pid, err := range l.failed {
		if comm(l.proc, pid) == "" {
			continue // it has ended
		}
		why = append(why, fmt.Sprintf("the log of process %d can't be looked for: %v", pid, err))
		c.Cure = curePrivilege
	}
	if hidden > 0 {
		why = append(why, fmt.Sprintf("%d JVMs of other users can't be looked into", hidden))
		c.Cure = curePrivilege
	}
	slices.Sort(why)
	if l.missed > 0 {
		why = append(why, fmt.Sprintf("%d bytes were logged faster than %d per second are read", l.missed, mostRead))
	}
	if l.untimed > 0 {
		why = append(why, fmt.Sprintf("%d lines have no time", l.untimed))
		c.Cure = orFirst(c.Cure, "-Xlog:…:file=gc.log:time,uptime")
	}
	if l.left > 0 && l.longest >= leftLong {
		c.Lost = l.left
		why = append(why, fmt.Sprintf("%d of the shortest pauses and waits are not events, of up to %s", l.left, l.longest))
	}
	switch {
	case l.followed == 0 && len(why) == 0 && jvms == 0:
		c.State, c.Why = recording.CoverageOff, "no JVM runs here"
	case l.followed == 0 && len(why) == 0:
		c.State, c.Why, c.Cure = recording.CoverageOff, "no JVM here writes a log of its collections", cureLog
	case l.followed == 0:
		c.State = recording.CoverageUnavailable
	case len(why) > 0:
		c.State = recording.CoveragePartial
	}
	if len(why) > 0 {
		c.Why = strings.Join(why[:min(len(why), 2)], "; ")
	} else if l.left > 0 {
		c.Why = fmt.Sprintf("of what its log reports the %d shortest are not events, none over %s", l.left, l.longest)
	}
	return c
}

func orFirst(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
