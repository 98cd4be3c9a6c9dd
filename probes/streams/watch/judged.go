package watch

import (
	"time"

	"snag/recording"
)

// Judged is what a recording of the host told of one stream that stopped.
type Judged struct {
	Stream, Layer string
	Labels        Labels
	Onset         recording.Time // when the stream stopped
	Culprit       string         // the suspect's name; "" where none is named
	Subject       string         // who or what it is
	Confidence    float64        // 0–1
	Proof         string         // what the accusation rests on: "1 proof, 2 strong signs"; "" where nobody is accused
	Text          string         // one sentence
	Recording     string         // the folder that was judged
}

// awaited is how long an action waits for the host's verdict: for the recording to
// have seen some of the freeze, to end, and to be judged on a busy machine.
const awaited = 15 * time.Second

// Judge asks say for each stream that is watched what the host's recording told of
// it; false is nothing. What is told goes to the alarms, also of streams that are well
// again: most are by then. It returns all that was told.
func (w *Watcher) Judge(say func(stream, layer string) (Judged, bool)) []Judged {
	w.mu.Lock()
	var told []Judged
	var alarms []Alarm
	for _, s := range w.streams {
		j, ok := say(s.entry.Name, s.entry.Layer)
		if !ok {
			continue
		}
		j.Stream, j.Layer, j.Labels = s.entry.Name, s.entry.Layer, s.entry.Labels
		j.Onset = s.stoppedAt(w)
		s.judged = &j
		told = append(told, j)
		if s.alarm.bad {
			s.alarm.judged = &j
		}
		alarms = append(alarms, Alarm{Stream: j.Stream, Layer: j.Layer, Side: s.side, Judged: &j})
	}
	w.mu.Unlock()
	for _, to := range w.o.Alarms {
		to.Judged(alarms)
	}
	return told
}

// stoppedAt is when a stream stopped: now, or the last time.
func (s *one) stoppedAt(w *Watcher) recording.Time {
	if s.alarm.bad {
		return w.time(s.alarm.onset)
	}
	for i := len(s.recent) - 1; i >= 0; i-- {
		if k := s.recent[i].Kind; k == recording.EventStreamFreeze || k == recording.EventStreamEnded {
			return s.recent[i].T
		}
	}
	return w.timeIf(s.signs.last)
}
