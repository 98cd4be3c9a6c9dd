package watch

import (
	"cmp"
	"time"

	"snag/recording"
)

// alarmState is what was said of one stream to the alarms.
type alarmState struct {
	bad    bool
	event  string
	onset  int64   // monotonic ns
	since  int64   // when it was told to the alarms
	judged *Judged // by the host's recording, since then
	gone   int64   // since when it was away, of an end that the host's recording is to tell of; an alarm or not
	ends   int     // how often it had ended, when the host's recording was asked of that
	behind int64   // when it last was late, slow or incomplete, of which the host's recording was asked
}

// raised is an alarm, or its end.
type raised struct {
	Alarm
	well bool
}

// downAfter is how long a stream may be away before that is an alarm, where its
// threshold is less: an encoder that reconnects is back by then.
const downAfter = 5 * time.Second

// missedAfter is how long a stream may be away before the host's recording is asked who ended it:
// what a viewer bears.
const missedAfter = time.Second

// alarming finds what is wrong at now, with what the other streams tell of it, and
// counts those that are well.
func (w *Watcher) alarming(now int64) (out []raised, others int) {
	var all []trouble // made when the first needs it
	for _, s := range w.streams {
		state, since := stateOf(s.link0(), s.signs, now)
		w.sick = w.sick || state == Frozen || state.lacks() || (state == Down || state == Refused || state == NoAnswer) && now-since > int64(downAfter)
		event := alarmOf(state, s.signs, now-since, s.threshold())
		switch {
		case isBehind(state):
			if s.alarm.behind == 0 || now-s.alarm.behind > int64(behindAgain) {
				w.stopped()
			}
			s.alarm.behind = now
		case state == Refused && !s.signs.frames && s.alarm.gone == 0: // from the beginning
			s.alarm.gone = since
			w.stopped()
		}
		if l := s.link0(); !s.signs.frames && l.ends > s.alarm.ends { // it was let in, and ended without a frame
			s.alarm.ends = l.ends
			w.stopped()
		}
		if l := s.link0(); neverPublished(state, l, s.signs, now) {
			event, since = AlarmNever, l.begun
		}
		was := s.alarm
		well := state.Comes()
		switch {
		case event == "" && !was.bad:
			if s.signs.frames {
				others++
			}
			if state == Down && now-since >= int64(missedAfter) && s.alarm.gone != since {
				s.alarm.gone = since
				w.stopped()
			}
		case event == "" && well:
			s.alarm = alarmState{gone: was.gone, ends: was.ends, behind: was.behind}
			a := w.alarm(s, now, "")
			a.Event, a.Onset, a.Over, a.First = AlarmWell, w.time(was.onset).Wall(), true, was.event == AlarmNever
			a.For = time.Duration(now - was.onset)
			out = append(out, raised{Alarm: a, well: true})
		default: // also while it is asked for again: no frame has come
			if !was.bad {
				s.alarm = alarmState{bad: true, onset: since, since: now, gone: was.gone, ends: was.ends, behind: was.behind}
				if was.gone != since && (event != AlarmNever || state == Frozen || state == Waiting) {
					w.stopped()
				} else if j := s.judged; j != nil && j.Onset >= w.time(since) {
					s.alarm.judged = j // before it was an alarm
				}
			}
			s.alarm.event = cmp.Or(event, was.event)
			if all == nil {
				all = w.troubles(now)
			}
			out = append(out, raised{Alarm: w.standing(s, now, all)})
		}
	}
	return out, others
}

// behindAgain is how long a stream must have kept up for the host's recording to be asked anew: a
// judgement costs a second of CPU time.
const behindAgain = time.Minute

// isBehind tells of a state that is no alarm, and that its viewers feel.
func isBehind(s State) bool { return s == Late || s == Slow || s == Skipping }

func (w *Watcher) stopped() {
	if w.o.Stopped != nil {
		w.o.Stopped()
	}
}

// standing is the alarm of a stream that has no frames.
func (w *Watcher) standing(s *one, now int64, all []trouble) Alarm {
	t := trouble{server: serverOf(s.entry.URL), onset: w.time(s.alarm.onset), bad: true}
	verdict := s.layersSay(s.alarm.onset)
	switch e := s.alarm.event; {
	case verdict != "":
	case e == AlarmGarbled:
		verdict = "frames come, and their picture is garbled: its encoder makes errors, or parts of it were lost before the server sent it; a viewer can't tell which"
	case e == AlarmSilent:
		verdict = "audio comes and is silent: its source gives none, is muted, or nothing is heard before it; a viewer can't tell which"
	case e == AlarmStill:
		verdict = "frames come, and their picture is the same: its source shows a still picture, or nothing moves before it; a viewer can't tell which"
	case e == AlarmBitsFell:
		verdict = "as many frames come as before: the picture is black, frozen or coded far worse; a viewer can't tell which"
	case e == AlarmNever:
		l := s.link0()
		state, _ := stateOf(l, s.signs, now)
		verdict = cmp.Or(s.why(state, l), "it was let in and got no frame")
	case e == AlarmFreeze || e == AlarmDown: // of what a stream lacks the others' freezes tell nothing
		verdict = triage(t, all)
	}
	a := w.alarm(s, now, verdict)
	a.Awaited = w.o.Stopped != nil && !a.once() && a.Judged == nil && now-s.alarm.since < int64(awaited)
	return a
}

// alarmOf says what a state is an alarm of; "" for none.
func alarmOf(state State, s signs, since int64, threshold time.Duration) string {
	switch {
	case state == Frozen:
		return AlarmFreeze
	case state.lacks():
		return state.String()
	case state == Down && time.Duration(since) >= max(threshold, downAfter):
		return AlarmDown
	}
	return ""
}

// neverPublished reports whether a stream was asked for and gave no frame since the beginning, refused
// or let in. To whom no connection can be made, nothing is known of.
func neverPublished(state State, l link, s signs, now int64) bool {
	if s.frames || l.begun == 0 || now-l.begun < unpublished {
		return false
	}
	return state == Refused || state == Waiting || state == Frozen || state == NoAnswer && l.err == nil
}

// threshold is what the figures hold for a freeze now.
func (s *one) threshold() time.Duration { return time.Duration(s.second.Limit * float64(time.Second)) }

func (w *Watcher) alarm(s *one, now int64, verdict string) Alarm {
	a := Alarm{
		Event: s.alarm.event, Stream: s.entry.Name, Side: s.side, Server: serverOf(s.entry.URL), URL: s.shown, Layer: s.entry.Layer,
		Onset: w.time(s.alarm.onset).Wall(), For: time.Duration(now - s.alarm.onset), Verdict: verdict,
	}
	if a.Event == AlarmRateFell || a.Event == AlarmBitsFell {
		a.RateBefore, a.Rate = s.signs.fell.before, s.signs.fell.rate
	}
	if s.alarm.judged != nil {
		a.judge(s.alarm.judged)
	}
	return a
}

// troubles is every stream as triage needs it.
func (w *Watcher) troubles(now int64) []trouble {
	out := make([]trouble, 0, len(w.streams))
	for _, s := range w.streams {
		if !s.signs.frames { // it never was well: it tells nothing
			continue
		}
		t := trouble{server: serverOf(s.entry.URL)}
		if state, since := stateOf(s.link0(), s.signs, now); state == Frozen || state == Down {
			t.bad, t.onset = true, w.time(since)
		} else {
			t.behind = state == Late || state == Slow
		}
		out = append(out, t)
	}
	return out
}

// Triage says what the streams of a snapshot tell of one of them that stopped;
// "" for nothing.
func Triage(snap Snapshot, r Row) string {
	if r.State != Frozen && r.State != Down {
		return ""
	}
	var all []trouble
	for _, o := range snap.Rows {
		if o.First == 0 {
			continue
		}
		all = append(all, troubleOf(o))
	}
	return triage(troubleOf(r), all)
}

func troubleOf(r Row) trouble {
	return trouble{server: serverOf(r.URL), onset: recording.Time(r.Since), bad: r.State == Frozen || r.State == Down, behind: r.State == Late || r.State == Slow}
}
