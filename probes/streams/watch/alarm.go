package watch

import (
	"time"

	"snag/recording"
)

// Alarm is what a command or a webhook is told of one stream.
type Alarm struct {
	Event   string        // one of the Alarm… constants
	Stream  string        // its name
	Side    string        // one of recording.StreamSide…
	Server  string        // host:port that it comes from
	URL     string        // without credentials and the query's values
	Layer   string        // "" where there are no layers
	Onset   time.Time     // wall clock: the last frame's arrival
	For     time.Duration // since the onset; of what is over, how long it lasted
	Over    bool          // frames come again
	First   bool          // for the first time
	Verdict string        // what can be told of the cause; "" for nothing
	Judged  *Judged       // by the host's recording; nil: there is none, or not yet
	Awaited bool          // it is being judged just now
	// Of a rate that fell, frames or bits per second: what it was, and is.
	RateBefore, Rate float64
}

// What an alarm is for.
const (
	AlarmFreeze = "freeze" // no frame for the threshold, the connection stands
	AlarmDown   = "down"   // it gave frames, ended, and has not come back for the threshold
	// AlarmNoAudio: no audio comes for five seconds, and the picture does.
	AlarmNoAudio = "no-audio"
	// AlarmGarbled, AlarmBlack, AlarmPlain, AlarmStill: key pictures have errors, are black, of one
	// brightness, or alike.
	AlarmGarbled = "garbled-picture"
	AlarmBlack   = "black-picture"
	AlarmPlain   = "plain-picture"
	AlarmStill   = "picture-frozen"
	// AlarmSilent: audio comes, and is silent.
	AlarmSilent = "audio-silent"
	// AlarmRateFell: the frame rate fell for five seconds and more, and frames come in time.
	AlarmRateFell = "frame-rate-fell"
	// AlarmBitsFell: as many frames come, of far fewer bytes.
	AlarmBitsFell = "bit-rate-fell"
	// AlarmNever: it was asked for, and refused or let in without a frame, since the beginning.
	AlarmNever = "never-published"
	AlarmWell  = "well" // frames come again, after an alarm
	// AlarmGone: after an alarm, it is no longer watched.
	AlarmGone = "gone"
	// AlarmVerdict: after an alarm, the host's recording was judged.
	AlarmVerdict = "verdict"
)

// key tells streams apart: a name is the only one of its side and layer.
func (a Alarm) key() string { return a.Side + " " + a.Layer + " " + a.Stream }

// judge takes what the host's recording told. What the host proved goes before what
// a viewer sees.
func (a *Alarm) judge(j *Judged) {
	a.Judged = j
	switch {
	case a.Verdict == "" || j.Culprit != "":
		a.Verdict = j.Text
	case a.Verdict != j.Text:
		a.Verdict += ". By the host's recording: " + j.Text
	}
}

// side is the stream's side where it is not the usual one, a player's.
func (a Alarm) side() string {
	if a.Side == recording.StreamSidePlayer {
		return ""
	}
	return a.Side
}

// once reports whether the alarm is sent once, however long it lasts: no action for a stream that
// nobody publishes yet may use up what there is for one that stops.
func (a Alarm) once() bool { return a.Event == AlarmNever }

// stands reports whether the stream has no frames now, as far as is known.
func (a Alarm) stands() bool { return !a.Over && a.Event != AlarmWell && a.Event != AlarmGone }
