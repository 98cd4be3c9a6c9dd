package figures

import "snag/probes/streams/stream"

// Value is a number that may not have been measured; that is not zero.
type Value struct {
	V  float64
	OK bool
}

func known(v float64) Value { return Value{v, true} }

// ratio is a/b where b is more than zero.
func ratio(a, b float64) Value {
	if b <= 0 {
		return Value{}
	}
	return known(a / b)
}

// Second is a stream's figures of one second: from T for Length. What it says of a
// GOP is of the last whole one.
type Second struct {
	T      int64   // monotonic clock, ns: where it begins
	Length float64 // seconds: 1 and up to the time between two Ticks more

	Video, Audio Track
	Main         stream.Kind // whose frames Gap, Drift, Pace and Spacing are of

	Gap      Value // seconds: the longest time without a frame that ended or stood in this second; before the first frame, since the reader was let in
	Standing Value // seconds since the last frame, at the second's end
	Frozen   bool  // a freeze stands at the second's end
	Since    int64 // since when, monotonic ns; 0: not frozen
	Freezes  int   // freezes that ended or stood in this second

	Drift      Value // seconds: arrival against DTS over the least of the last minute, the least of this second
	DriftWorst Value // the most of this second
	Lateness   Value // seconds: how late frames come at the most since the stream is late; 0 while it is not
	Pace       Value // how far DTS moved by how far the wall did, over up to the last 10 s; 1 is live
	Skew       Value // seconds: audio's DTS less the video's, at arrival
	Buffer     Value // bursty transports: seconds that a player three target durations behind would have left

	Spacing  Value   // seconds between the main kind's frames, by DTS: the median
	Variable bool    // the frame rate is variable: skipping is not judged
	Limit    float64 // seconds: the freeze threshold as it is now

	GOP GOP

	Jumps     int // DTS that went back, or on by more than 10 s, in this second
	StepsBack int // DTS that went back, of any size, reordered frames too
	Missing   int // frames that are missing by DTS, in this second

	Transport  Transport
	Missed     bool    // the observer missed data of the stream in this second, or just before
	Late       float64 // seconds that the observer itself was late in this second
	Doubt      bool    // the observer was late or lost data itself: gap, fps and what is missing may be its own doing
	EventsLost int     // events since the last second for which there was no room, as nobody took them

	Five  Five  // the last five-second sums
	Total Total // since the Meter began
}

// Track is one kind's figures of a second.
type Track struct {
	Present bool  // frames of this kind come: one at least in the last 5 s, of a bursty transport the last three segments, or in this second
	Frames  int   // that came
	Keys    int   // key frames of them
	Bytes   int64 // of the elementary stream
	FPS     Value // frames by the second's length, by arrival; not while a track opens; of a bursty transport by DTS over what last came
	FPSDTS  Value // frames by how far DTS moved from the last of the second before to the last of this
	Bitrate Value // bits per second, as FPS
}

// GOP is from one key frame to the next.
type GOP struct {
	Frames  int     // of the last whole one; 0: none yet
	Seconds float64 // of the last whole one, by DTS: the key frame interval
	Varies  Value   // longest less shortest of the last eight, in frames; not measured before the third
	Keys    int     // whole GOPs ended in this second
	Now     float64 // seconds of DTS since the last key frame
	FPS     Value   // frames by seconds of the last whole one
	Bitrate Value   // bits per second of media, of the last whole one
}

// Transport is what was counted and measured beside frames, in this second.
type Transport struct {
	Count [stream.Counts]uint64
	Gauge [stream.Gauges]Value // the last value
}

// Five is the sums over five seconds: what every home-made watcher prints.
type Five struct {
	T       int64   // where it begins; 0: five seconds have not passed yet
	Length  float64 // seconds
	New     bool    // it ended with this second
	Video   Sum
	Audio   Sum
	Gap     float64 // longest, seconds
	Drift   Value   // most of the seconds' least, seconds
	Missing int
	Doubt   bool
}

// Sum is one kind's part of Five.
type Sum struct {
	Frames  int
	Keys    int
	Bytes   int64
	FPS     Value // as Track's, over the seconds in which it was measured
	Bitrate Value // bits per second, the same

	rated        float64 // seconds in which it was
	frames, bits float64 // in these
}

// Total counts since the Meter began, over reconnections too.
type Total struct {
	Frames    [2]uint64 // by stream.Video, stream.Audio
	Bytes     [2]uint64
	Keys      uint64
	Media     float64 // seconds that the main kind's DTS moved on, jumps left out
	Missing   uint64
	Freezes   uint64
	Frozen    float64 // seconds of freezes that ended
	Count     [stream.Counts]uint64
	Connected uint64 // how often the reader was let in
}
