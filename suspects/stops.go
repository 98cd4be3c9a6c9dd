package suspects

import (
	"fmt"
	"strconv"
	"time"

	"snag/recording"
	"snag/scene"
)

// stops is when and by whom a process was stopped.
type stops struct {
	process  *scene.Process
	spans    []recording.Interval
	seen     int  // samples in state T
	told     bool // the probe that follows states wrote a stop of two samples and more
	debugger bool
	ran      float64 // CPU time used between two samples that both found it stopped, s
	signals  int
	signal   string
	from     string
	senderID int
}

// longStop: shorter ones are what a debugger's attach or a job control makes, and
// no shorter than the samples are apart.
const longStop = time.Second

var stopSignals = map[string]bool{"SIGSTOP": true, "SIGTSTP": true, "SIGTTIN": true, "SIGTTOU": true}

// stopsOf gathers what states, events and signals say of one process.
func stopsOf(p *scene.Process, r *recording.Recording, window recording.Interval) stops {
	st := stops{process: p}
	var rows []stateSample
	for _, row := range p.Rows {
		rows = append(rows, stateSample{row.T, row.State, row.CPU})
	}
	traced := st.addSamples(rows)
	for _, t := range p.Threads {
		if t.Subject.TID == p.Subject.PID { // the leader's state is the process' own
			rows = nil
			for _, row := range t.Rows {
				rows = append(rows, stateSample{row.T, row.State, row.OnCPU})
			}
			traced += st.addSamples(rows)
		}
	}
	st.debugger = traced > 0 && 2*traced > st.seen
	st.addEvents(r, window)
	var long []recording.Interval
	for _, i := range mergeIntervals(st.spans, 0) {
		if i.Start < window.Start {
			i.Start = window.Start
		}
		if i.Length(window.End) >= longStop {
			long = append(long, i)
		}
	}
	st.spans = long
	return st
}

// stateSample is one look at a process: its state, and the CPU time used so far.
type stateSample struct {
	t     recording.Time
	state string
	cpu   float64
}

// ranFor is the CPU time from which a process ran between two samples: a tick of
// utime and stime (/proc/PID/stat counts 10 ms).
const ranFor = 0.01

// addSamples takes the states that one source saw, by time: stopped from one
// sample to the next if both say so and no CPU time was used between them. It
// returns how many were a debugger's.
func (st *stops) addSamples(rows []stateSample) (traced int) {
	for i, m := range rows {
		if m.state != "T" && m.state != "t" {
			continue
		}
		st.seen++
		if m.state == "t" {
			traced++
		}
		span := recording.Interval{Start: m.t, End: m.t} // alone it is an instant
		if i+1 < len(rows) && (rows[i+1].state == "T" || rows[i+1].state == "t") {
			if used := rows[i+1].cpu - m.cpu; used >= ranFor {
				st.ran += used
			} else {
				span.End = rows[i+1].t
			}
		}
		st.spans = append(st.spans, span)
	}
	return traced
}

// addEvents joins the stops that the host probe followed and the signals that the
// kernel told: those have exact times, from SIGSTOP to SIGCONT.
func (st *stops) addEvents(r *recording.Recording, window recording.Interval) {
	pid := st.process.Subject.PID
	var stopped recording.Time
	for _, e := range r.Events {
		if e.Subject.PID != pid {
			continue
		}
		switch name := e.Attrs["signal"]; {
		case e.Kind == recording.EventStopped:
			st.spans = append(st.spans, e.Interval())
			st.told = st.told || e.Interval().Length(window.End) >= longStop
		case e.Kind == recording.EventSignal && stopSignals[name] && e.Attrs["result"] != "ignored":
			st.signals += int(max(1, e.Value))
			st.signal = name
			if id, err := strconv.Atoi(e.Attrs["from_pid"]); err == nil && id > 0 {
				st.senderID = id
				st.from = fmt.Sprintf("%s[%d]", orThis(e.Attrs["from_comm"], "?"), id)
			}
			if stopped == 0 {
				stopped = e.T
			}
		case e.Kind == recording.EventSignal && name == "SIGCONT":
			// Between two samples a stop may be seen by its signals alone; that
			// it was in state T must have been seen at least once.
			if stopped != 0 && st.confirmedIn(recording.Interval{Start: stopped, End: e.T}) {
				st.spans = append(st.spans, recording.Interval{Start: stopped, End: e.T})
			}
			stopped = 0
		}
	}
	if open := (recording.Interval{Start: stopped}); stopped != 0 && st.confirmedIn(open) {
		st.spans = append(st.spans, open)
	}
}

// confirmedIn tells whether state T was seen in the interval.
func (st *stops) confirmedIn(i recording.Interval) bool {
	for _, s := range st.spans {
		if i.Covers(s.Start) {
			return true
		}
	}
	return false
}

// senders are the processes that stopped it, as far as they are known.
func (st *stops) senders(s *scene.Scene) []recording.Subject {
	if st.senderID == 0 || st.senderID == st.process.Subject.PID {
		return nil
	}
	if p := s.Process(st.senderID); p != nil {
		return []recording.Subject{p.Subject}
	}
	return []recording.Subject{{Kind: recording.KindProcess, PID: st.senderID}}
}

// sufferers are the sockets at which data or connections waited while it was
// stopped, or whose steady stream stood still; with the worst in words.
func (st *stops) sufferers(s *scene.Scene) (out []*scene.Socket, worst string) {
	most := -1
	for _, k := range st.process.Sockets {
		n, rows, q := waitingIn(k, st.spans)
		peer := 0
		if k.Peer != nil {
			for _, row := range k.Peer.Rows {
				if covers(st.spans, row.T) {
					peer = max(peer, row.SendQ)
				}
			}
		}
		text := ""
		switch {
		case rows > 0 && 2*n >= rows && k.Listening():
			text = fmt.Sprintf("%s connections waited on %s", count(float64(q)), k.First().Local)
		case rows > 0 && 2*n >= rows:
			text = fmt.Sprintf("up to %s waited to be read on %s", size(float64(q)), k.First().Local)
			if k.First().Remote != "" {
				text += " from " + k.First().Remote
			}
		case peer > 0 && n > 0:
			text = fmt.Sprintf("%s waited to be sent to it by %s", size(float64(peer)), k.First().Remote)
		case stoodStill(k, st.spans, s.Window):
			text = fmt.Sprintf("its stream with %s stood still", k.First().Remote)
			q = 0
		default:
			continue
		}
		out = append(out, k)
		if q > most {
			most, worst = q, text
		}
	}
	return out, worst
}

// stoodStill: bytes moved at a steady rate outside of the intervals and none
// inside.
func stoodStill(k *scene.Socket, spans []recording.Interval, window recording.Interval) bool {
	if k.First().Proto != "tcp" || k.Listening() || k.Last().TCP == nil {
		return false
	}
	got, seconds := movedIn(k, spans, window.End, movedBytes)
	free, outside := movedIn(k, rest(spans, window), window.End, movedBytes)
	// A second's worth of steady traffic at least must be missing.
	return seconds >= 1 && got == 0 && outside >= 2 && free/outside*seconds >= 1000
}
