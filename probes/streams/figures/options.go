package figures

import (
	"time"
)

// Options are what a Meter has to know beside the frames.
type Options struct {
	Name string // what a person calls the stream; for the frame log
	// Asked is when the reader began to connect, monotonic clock, ns.
	Asked int64
	// Threshold: no frame for so long is a freeze. 0 is the larger of 1 s and
	// three usual spacings of the stream's own frames; on a bursty transport, three
	// target durations.
	Threshold time.Duration
	// Bursty says that frames come a segment at a time (HLS, LL-HLS).
	Bursty bool
	// Target is a bursty transport's segment duration (EXT-X-TARGETDURATION);
	// 0: learned from what comes.
	Target time.Duration
	// Over says that what is measured is over already (a capture file): a freeze is
	// told only once it has ended, or by Finish, so that a hole in the file that
	// shows at its end is known then.
	Over bool
	// OwnClock says that each connection has timestamps of its own (RTP), whoever publishes.
	OwnClock bool
	// Frames is where each frame is logged (--frames FILE); nil: nowhere.
	Frames *FrameLog
}

// The limits, each with its reason.
const (
	second = int64(time.Second)

	// A viewer calls a picture frozen from about a second on; healthy streams
	// show gaps of 100 to 350 ms on a busy machine.
	leastThreshold = second
	// Until the stream has shown its own spacing: a camera of 1 frame per second
	// must not be frozen at its second frame.
	firstThreshold = 3 * second
	// Between being let in and the first frame: servers wait for a key picture,
	// and GOPs of 10 s are usual.
	firstWait = 10 * second
	// Of a bursty transport whose segments are not known yet: RFC 8216's own
	// example, and what packagers make by default.
	defaultTarget = 6 * second

	// Of a bursty transport: the model of its player knows no better when its buffer
	// was empty, and nobody sees less.
	leastStall = second / 10

	lateOver  = second / 2 // drift that is called late …
	lateUnder = second / 4 // … and below which it no longer is
	lateStays = second     // for so long without a frame under lateUnder: a burst after a gap is not late

	slowUnder  = 0.95 // DTS against wall
	slowOver   = 0.98 // at which a slow stream is no longer slow
	slowWindow = 10 * second

	jumpOver = 10 * second // DTS on by more than the wall and this: a jump
	skipOver = 3           // half spacings of DTS: a step over it leaves frames out

	audioAway = 5 * second // audio missing for so long while video comes has gone

	// Times from outside are held to ±36 years, so that their differences fit.
	mostTime = int64(1) << 60
)

func held(t int64) int64 { return min(max(t, -mostTime), mostTime) }
