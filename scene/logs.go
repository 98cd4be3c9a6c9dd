package scene

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"snag/internal/units"
	"snag/recording"
)

// LogGap is a log file that grew at a steady pace and then did not, or did not at first.
type LogGap struct {
	File    recording.LogFile // its last row
	Writes  int               // looks that found it grown, in all
	Usual   time.Duration     // the longest time between two of them otherwise
	Silence recording.Interval
	Each    int64 // bytes that came with a write on average
	After   int64 // with the first one after the silence; 0: none came
	Rotated bool
	First   bool // it began before the recording: its pace is that of afterwards
	Whole   bool // it lasted for the whole recording: nobody knows its pace
}

const (
	// logSilence is the least silence that is told, and fewWrites how often the file
	// must have grown before: what is written at every look, a second apart, for three
	// looks is steady, and three looks without are no jitter.
	logSilence = 3 * time.Second
	fewWrites  = 3
	// silentTimes: by how many times a silence must be longer than the longest pause
	// of before.
	silentTimes = 2
	// lastLook is how near to the probe's last tick the last row of a file must be, to
	// say that it was silent until then and not closed.
	lastLook = 2 * time.Second
)

// LogGaps are the silences of a recording's log files, at most one of each file: the
// longest.
func LogGaps(r *recording.Recording) []LogGap {
	type key struct {
		pid, fd int
		inode   uint64
	}
	files, order := map[key][]recording.LogFile{}, []key(nil)
	for _, row := range r.LogFiles {
		if recording.IsTable(row.Path) {
			continue // another snag writes it, when something happens
		}
		k := key{row.PID, row.FD, row.Inode}
		if files[k] == nil {
			order = append(order, k)
		}
		files[k] = append(files[k], row)
	}
	window := r.Window()
	window.End = lastTick(r)
	var out []LogGap
	for _, k := range order {
		if g, ok := logGap(files[k], window); ok {
			out = append(out, g)
		}
	}
	return out
}

// lastTick is when the log files were looked at last but for the end, which on a machine
// that is overloaded is seconds before the window's; 0 where neither is known.
func lastTick(r *recording.Recording) recording.Time {
	for _, s := range r.Select("snag_probe_late_seconds", "probe", "logs") {
		if n := len(s.Points); n > 0 && (r.Manifest.End == 0 || s.Points[n-1].T < r.Manifest.End) {
			return s.Points[n-1].T
		}
	}
	return r.Manifest.End
}

func logGap(rows []recording.LogFile, window recording.Interval) (LogGap, bool) {
	last := rows[len(rows)-1]
	g := LogGap{File: last, Rotated: last.Rotated}
	var writes []recording.Time // when it was found grown
	var sizes []int64           // by how much
	for i := 1; i < len(rows); i++ {
		if rows[i].Size > rows[i-1].Size || rows[i].MTime > rows[i-1].MTime {
			at := rows[i].T
			if m := rows[i].MTime; m > rows[i-1].T && m < at { // exact, where the file system's clock is this one
				at = m
			}
			writes = append(writes, at)
			sizes = append(sizes, rows[i].Size-rows[i-1].Size)
		}
	}
	if g.Writes = len(writes); g.Writes == 0 {
		g.Whole, g.Silence = true, recording.Interval{Start: rows[0].T, End: last.T}
		return g, last.T.Sub(rows[0].T) >= logSilence
	}
	if g.Writes < fewWrites {
		return g, false
	}
	if window.End == 0 || window.End.Sub(last.T) <= lastLook { // it was open until the end
		writes, sizes = append(writes, last.T), append(sizes, 0)
	}
	var gaps []time.Duration
	longest := -1
	for i := 1; i < len(writes); i++ {
		gaps = append(gaps, writes[i].Sub(writes[i-1]))
		if longest < 0 || gaps[i-1] > gaps[longest] {
			longest = i - 1
		}
	}
	if first, ok := silentFirst(rows, writes[0], window); ok && (longest < 0 || first.End.Sub(first.Start) > gaps[longest]) {
		g.First, g.Silence = true, first
		g.Each = max(0, last.Size-rows[0].Size) / int64(g.Writes)
		g.Usual = slices.Max(append(gaps, 0))
		return g, first.End.Sub(first.Start) >= silentTimes*g.Usual
	}
	if longest < fewWrites-1 || gaps[longest] < logSilence { // it had no pace yet
		return g, false
	}
	g.Silence = recording.Interval{Start: writes[longest], End: writes[longest+1]}
	g.After = sizes[longest+1]
	g.Each = max(0, last.Size-rows[0].Size-g.After) / int64(g.Writes)
	others := append(append([]time.Duration(nil), gaps[:longest]...), gaps[longest+1:]...)
	sort.Slice(others, func(i, j int) bool { return others[i] < others[j] })
	if len(others) > 0 {
		g.Usual = others[len(others)-1]
	}
	return g, gaps[longest] >= silentTimes*g.Usual
}

// silentFirst is the silence that was there when the recording began, until the look before the
// one that found the file grown for the first time.
func silentFirst(rows []recording.LogFile, grown recording.Time, window recording.Interval) (recording.Interval, bool) {
	in := recording.Interval{Start: rows[0].T, End: grown.Add(-time.Second)}
	switch written := rows[0].MTime; {
	case written >= window.Start && written < in.Start:
		in.Start = written
	case in.Start.Sub(window.Start) <= lastLook: // it was open when the recording began
		in.Start = window.Start
	}
	return in, in.End > in.Start && in.End.Sub(in.Start) >= logSilence
}

// Plain tells a silence of a log that kept its pace: one of a few lines, or of lines that
// come when something happens, has long pauses of its own.
func (g LogGap) Plain() bool {
	long := g.Silence.End.Sub(g.Silence.Start)
	return g.Writes >= 20 && g.Usual > 0 && long >= 5*g.Usual
}

// silentLogs: a log fell silent while its process had something to do. A service
// that nobody asks has nothing to write.
func silentLogs(s *Scene, r *recording.Recording) []Symptom {
	var out []Symptom
	for _, g := range LogGaps(r) {
		p := s.Process(g.File.PID)
		if p == nil || g.Rotated {
			continue
		}
		busy := s.BusyIn(r, p, g)
		if busy == "" {
			continue
		}
		long := g.Silence.End.Sub(g.Silence.Start)
		text := fmt.Sprintf("the log of %s[%d] grew every %s and then not for %s, while %s", g.File.Comm, g.File.PID, units.Seconds(g.Usual), units.Seconds(long), busy)
		switch {
		case g.Whole:
			text = fmt.Sprintf("the log of %s[%d] did not grow for %s, while %s", g.File.Comm, g.File.PID, units.Seconds(long), busy)
		case g.First:
			text = fmt.Sprintf("the log of %s[%d], which grows every %s, did not for %s at first, while %s", g.File.Comm, g.File.PID, units.Seconds(g.Usual), units.Seconds(long), busy)
		}
		out = append(out, onset(Symptom{
			Name: LogSilence, Subject: recording.Subject{Kind: recording.KindFile, Path: g.File.Path, PID: g.File.PID, Comm: g.File.Comm, Netns: p.Subject.Netns},
			Active: []recording.Interval{g.Silence}, Amount: long.Seconds(), Unit: "s",
			Share: long.Seconds() / max(s.Window.Length(s.Window.End).Seconds(), 1),
			Text:  text,
		}, s))
	}
	return out
}

// BusyIn says what a process had to do in a silence of its log; "" where it was seen to have nothing.
// A log of which nobody knows the pace (of errors, say) is silent while there is work: what tells is
// that its process can't write at all.
func (s *Scene) BusyIn(r *recording.Recording, p *Process, g LogGap) string {
	if g.Whole && !recording.StandsIn(p.Subject.PID) {
		return stuckAtAnyPipe(r, p, g.Silence)
	} else if g.Whole {
		return ""
	}
	return s.Busy(r, p, g.Silence)
}

// Busy says what a process had to do in an interval: requests that came or waited, or
// an answer of another that it waited for; "" where it was seen to have nothing.
func (s *Scene) Busy(r *recording.Recording, p *Process, in recording.Interval) string {
	if recording.StandsIn(p.Subject.PID) {
		return busyByLog(r, p, in)
	}
	over := in.End
	in.End = in.End.Add(time.Second) // what a look or a second says is of the time before it
	for _, t := range r.Turns {
		if t.PID != p.Subject.PID || !in.Covers(t.T) {
			continue
		}
		switch {
		case t.Role == "serve" && (t.Open > 0 || t.N > 0) && t.T < over: // what comes later ends the silence
			return "requests came from " + t.Remote
		case t.Role == "call" && t.Oldest >= 1:
			return "it waited for an answer of " + t.Remote
		}
	}
	for _, k := range p.Sockets {
		served := k.Listener != nil
		var first *recording.Socket
		for i := range k.Rows {
			row := &k.Rows[i]
			if !in.Covers(row.T) {
				continue
			}
			switch {
			case row.State == "LISTEN" && row.RecvQ > 0:
				return fmt.Sprintf("%d connections waited to be accepted on %s", row.RecvQ, row.Local)
			case row.State == "LISTEN" || row.Remote == "":
			case row.RecvQ > 0 && row.State == "ESTABLISHED" && row.T < over:
				return fmt.Sprintf("%s waited to be read from %s", units.Bytes(float64(row.RecvQ)), row.Remote)
			case served && row.T < over && first != nil && row.TCP != nil && first.TCP != nil && row.TCP.BytesReceived > first.TCP.BytesReceived:
				return "requests came from " + recording.Host(row.Remote)
			case !served && Awaits(*row):
				return "it waited for an answer of " + row.Remote
			}
			if first == nil {
				first = row
			}
		}
	}
	return stuckAtAnyPipe(r, p, in)
}

func stuckAtAnyPipe(r *recording.Recording, p *Process, in recording.Interval) string {
	n, looks := pipeFull(p, in)
	if _, stuck := StuckAtPipe(r, p, in); stuck > 0 || n >= 3 && 2*n > looks {
		return "it wanted to write to a pipe that is full"
	}
	return ""
}

// pipeFull is in how many of the seconds in which a process was looked at a thread of it
// waited to write to a pipe.
func pipeFull(p *Process, in recording.Interval) (n, looks int) {
	at, full := map[recording.Time]bool{}, map[recording.Time]bool{}
	for _, t := range p.Threads {
		for _, row := range t.Rows {
			if !in.Covers(row.T) {
				continue
			}
			second := row.T / recording.Time(time.Second)
			at[second] = true
			if row.FullPipe() {
				full[second] = true
			}
		}
	}
	return len(full), len(at)
}

// fewStuck looks at the states of threads, 20 per second, of which all found one of a process
// writing to a pipe: it is no line that was just written.
const fewStuck = 10

// StuckAtPipe is a thread of a process that waited to write to a pipe whenever its state was
// looked at, and how many looks that were; 0: there is none. Who is followed only for the last
// second of a window has few other looks.
func StuckAtPipe(r *recording.Recording, p *Process, in recording.Interval) (at recording.ThreadStates, looks uint64) {
	stuck, elsewhere := map[int]recording.ThreadStates{}, map[int]bool{}
	for _, row := range r.ThreadStates {
		switch {
		case row.PID != p.Subject.PID || !in.Covers(row.T):
		case row.State == "S" && row.Call == "write" && row.Kind == recording.OfPipe:
			row.N += stuck[row.TID].N
			stuck[row.TID] = row
		default:
			elsewhere[row.TID] = true
		}
	}
	for tid, row := range stuck {
		if !elsewhere[tid] && row.N >= fewStuck && row.N > looks {
			at, looks = row, row.N
		}
	}
	return at, looks
}

// Awaits reports whether the process asked on a connection and has no answer yet: it
// sent after it last received (tcp_info: last_data_sent, last_data_recv). One on which
// nothing ever came back (metrics that are pushed) is not waited on.
func Awaits(row recording.Socket) bool {
	return row.Proto == "tcp" && row.State == "ESTABLISHED" && row.TCP != nil &&
		row.TCP.BytesReceived > 0 && row.TCP.LastSnd < row.TCP.LastRcv && row.TCP.LastSnd >= 1
}
