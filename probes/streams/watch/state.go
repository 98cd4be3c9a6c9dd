package watch

import (
	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/recording"
)

// State is how a stream is, in the order of what to look at first.
type State uint8

// States.
const (
	Frozen         State = iota // connected, and no frame for the threshold
	Down                        // it gave frames, its connection ended, and it is not back
	Refused                     // the server is there and does not give it
	NoAnswer                    // it can't be read: no connection, another protocol
	NoAudio                     // its audio stays away, and the picture comes
	GarbledPicture              // its key pictures have errors
	BlackPicture                // its key pictures are black
	PlainPicture                // they are of one brightness
	StillPicture                // they are alike
	SilentAudio                 // its audio comes, and is silent
	RateFell                    // far fewer frames come than before, in time
	BitsFell                    // as many frames come, of far fewer bytes
	Late                        // frames come later and later
	Slow                        // its clock moves slower than the wall's
	Skipping                    // frames are missing by their timestamps
	Losing                      // packets are lost on the way to snag
	Connecting                  // it was asked for and has not answered yet
	Waiting                     // it was let in and no frame has come yet
	Over                        // a recording, which had ended before it was asked for: nobody watches it live
	OK
	States // how many there are
)

var stateNames = [States]string{"frozen", "down", "refused", "no-answer", "no-audio", "garbled-picture", "black-picture", "plain-picture", "picture-frozen", "audio-silent", "frame-rate-fell", "bit-rate-fell", "late", "slow", "skipping", "losing", "connecting", "waiting", "ended", "ok"}

func (s State) String() string { return stateNames[min(s, OK)] }

// Sick reports whether a person should look at it.
func (s State) Sick() bool { return s < Connecting }

// Comes reports whether frames come.
func (s State) Comes() bool {
	switch s {
	case NoAudio, GarbledPicture, BlackPicture, PlainPicture, StillPicture, SilentAudio, RateFell, BitsFell, Late, Slow, Skipping, Losing, OK:
		return true
	}
	return false
}

// lacks reports whether frames come and the stream is less than it was. Alarms have the same names.
func (s State) lacks() bool { return s >= NoAudio && s <= BitsFell }

// recent is how long something that happens at an instant (a skip, a loss) is
// still a stream's state, ns: shorter, and nobody would see it.
const recent = int64(10e9)

// unpublished is how long a server may take until a stream that it has not given
// is one that nobody publishes, ns: some let players in and wait with them.
const unpublished = int64(10e9)

// unanswered is how long a request for a stream must be without an answer until that tells
// something, ns: servers of another continent take a second.
const unanswered = int64(3e9)

// link is how the connection of a reader stands.
type link struct {
	phase   phase
	since   int64 // monotonic ns
	begun   int64 // when the first attempt began
	asked   int64 // when the present or last attempt began
	err     error // of the last attempt, nil while there was none
	retry   int64 // when it is asked again; 0: it is being read
	ends    int   // how often it was read and ended
	local   string
	remote  string
	params  [2]stream.Params // by stream.Video, stream.Audio
	refused bool             // err is a server's no
	over    bool             // err says that it is a recording
}

type phase uint8

const (
	asking  phase = iota // waiting its turn, or connecting
	reading              // let in
	away                 // waiting to ask again
)

// signs are what the figures say, beside the connection.
type signs struct {
	frames   bool  // one came, ever
	last     int64 // monotonic ns of the last one; 0: none
	frozen   int64 // since when; 0: not
	silent   int64 // since when no audio comes; 0: it does, or there never was any
	shows    shows // what its picture is
	hushed   int64 // since when its audio is silent; 0: it is not
	fell     fall  // a rate that fell
	late     int64
	slow     int64
	skipped  int64 // when it last did; 0: never
	lost     int64
	changed  int64  // when the state last changed to OK
	live     bool   // a frame came since it was let in
	notBegun bool   // the freeze is the wait for the first frame
	reason   string // of the freeze, as its transport knows it
}

// shows is what was told of the picture and still is.
type shows struct {
	state State
	since int64 // 0: nothing
}

// fall is a rate that fell and is not back.
type fall struct {
	kind         string // recording.EventStream…; "" for none
	since        int64
	before, rate float64 // frames or bits per second: before, and now
}

// stateOf says how a stream is at now, and since when. It decides nothing that
// figures did not measure.
func stateOf(l link, s signs, now int64) (State, int64) {
	switch {
	case l.phase != reading && l.over && !s.frames:
		return Over, l.since
	case l.phase != reading && s.frames:
		return Down, max(s.last, 1)
	case l.phase == away && l.refused:
		return Refused, l.since
	case l.phase == away, l.phase == asking && l.err != nil && !l.refused:
		return NoAnswer, l.since
	case l.phase == asking && l.err != nil:
		return Refused, l.since
	case l.phase == asking && l.asked != 0 && now-l.asked > unpublished:
		return NoAnswer, l.asked
	case l.phase == asking:
		return Connecting, l.since
	case s.frozen != 0:
		return Frozen, s.frozen
	case !s.live:
		return Waiting, l.since
	case s.silent != 0:
		return NoAudio, s.silent
	case s.shows.since != 0:
		return s.shows.state, s.shows.since
	case s.hushed != 0:
		return SilentAudio, s.hushed
	case s.fell.kind == recording.EventStreamRateFell:
		return RateFell, s.fell.since
	case s.fell.kind == recording.EventStreamBitsFell:
		return BitsFell, s.fell.since
	case s.late != 0:
		return Late, s.late
	case s.slow != 0:
		return Slow, s.slow
	case s.skipped != 0 && now-s.skipped < recent:
		return Skipping, s.skipped
	case s.lost != 0 && now-s.lost < recent:
		return Losing, s.lost
	}
	return OK, max(s.changed, l.since)
}

// note takes an event of the figures into the signs.
func (s *signs) note(e figures.Event, now int64) {
	standing := e.Start
	if e.Phase == figures.Ended || e.Doubt { // what snag's own lateness made is no state of the stream
		standing = 0
	}
	switch e.Kind {
	case recording.EventStreamFirstFrame:
		s.frames, s.changed, s.silent = true, now, 0
	case recording.EventStreamChanged:
		if e.What != "audio" {
			return
		}
		if s.silent = 0; e.To == "none" {
			s.silent = standing
			return
		}
	case recording.EventStreamFreeze:
		s.frozen, s.notBegun, s.reason = standing, e.Before, e.Why
	case recording.EventStreamGarbled, recording.EventStreamBlack, recording.EventStreamPlain, recording.EventStreamStill:
		s.shows = shows{pictureState(e.Kind), standing}
	case recording.EventStreamSilentAudio:
		s.hushed = standing
	case recording.EventStreamRateFell, recording.EventStreamBitsFell:
		if s.fell = (fall{}); standing != 0 {
			s.fell = fall{e.Kind, standing, e.Base, e.Value}
		}
	case recording.EventStreamLate:
		s.late = standing
	case recording.EventStreamSlow:
		s.slow = standing
	case recording.EventStreamSkipped:
		if e.Doubt {
			return
		}
		s.skipped = now
	default:
		return
	}
	if standing == 0 || e.Phase == figures.Instant {
		s.changed = now
	}
}

// second takes the figures of a second into the signs.
func (s *signs) second(f figures.Second, now int64) {
	frames := f.Video.Frames + f.Audio.Frames
	if frames > 0 {
		s.frames, s.live = true, true
		s.last = now - int64(f.Standing.V*1e9)
	}
	c := f.Transport.Count
	if c[stream.PacketsLost]+c[stream.ContinuityErrors] > 0 {
		s.lost = now
	}
}
