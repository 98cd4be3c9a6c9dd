// Package stream is what every reader of a live stream gives: frames as they
// come, without their payload, and what the stream says that it is made of.
package stream

import (
	"context"
	"net/url"
	"time"
)

// Kind is what a frame is of.
type Kind uint8

// Kinds of frames.
const (
	Video Kind = iota
	Audio
	Data
)

func (k Kind) String() string {
	switch k {
	case Video:
		return "video"
	case Audio:
		return "audio"
	}
	return "data"
}

// Frame is one access unit (a coded picture, a block of audio samples) when its
// last byte was read. Sequence headers and parameter sets alone are no frames.
type Frame struct {
	Kind    Kind
	Key     bool  // a picture that a decoder can begin with
	Arrival int64 // monotonic clock, ns
	DTS     int64 // ns on the stream's own clock, unwrapped: 32-bit milliseconds or 33-bit 90 kHz ticks are counted on
	PTS     int64 // ns on the same clock
	Size    int   // bytes of the elementary stream: no container, no packet headers
	// Mark is a sum of a picture's first bytes, which a server passes on as they are: it
	// tells apart pictures of one size. 0: these bytes did not come.
	Mark uint32
}

// Params is what a stream says of one of its tracks. Zero is "does not say".
type Params struct {
	Kind          Kind
	Codec         string // h264 hevc av1 vp9 aac opus mp3 pcma pcmu
	Width, Height int    // pixels
	FPS           float64
	SampleRate    int // Hz
	Channels      int
}

// Count is something that a transport counts beside frames.
type Count uint8

// What is counted; each is since the reader's last call.
const (
	PacketsLost      Count = iota // RTP: gaps in the sequence that nothing filled within the reorder window
	PacketsLate                   // RTP: came after the window
	PacketsReordered              // RTP: came out of order, within the window
	PacketsDuplicate              // RTP: came twice
	ContinuityErrors              // MPEG-TS: continuity_counter not as expected (ISO/IEC 13818-1 2.4.3.3)
	Discontinuities               // told by the stream: EXT-X-DISCONTINUITY, discontinuity_indicator
	SequenceResets                // HLS: EXT-X-MEDIA-SEQUENCE went back
	CaptureLost                   // passive: bytes of the connection that the capture does not have
	ReceiverDropped               // UDP: datagrams that the kernel dropped at snag's own full socket: its fault, not the stream's (SO_RXQ_OVFL)
	SegmentsFailed                // HLS: segments and parts that the playlist lists and the server did not give whole
	Counts                        // how many there are
)

// Gauge is something that a transport measures beside frames.
type Gauge uint8

// What is measured; the last value stands.
const (
	Jitter          Gauge = iota // seconds, RFC 3550 6.4.1, of the video's packets, the audio's where there is no video
	PlaylistAge                  // seconds since the HLS playlist last changed
	SegmentSlowness              // HLS: seconds that a segment's download took by its duration, a ratio
	PCRJitter                    // seconds, MPEG-TS: PCR against arrival over the least
	TargetDuration               // seconds, HLS: EXT-X-TARGETDURATION of the playlist that holds now
	Gauges                       // how many there are
)

// Sink takes what a reader sees, in the order of arrival, on the reader's own
// goroutine. It must be quick. A Sink is for one stream.
type Sink interface {
	// Published is called when the server let the reader in and the stream is
	// there; local and remote are the connection's ends, "" for none.
	Published(at int64, local, remote string)
	Frame(Frame)
	Params(Params)
	Count(c Count, n uint64)
	Gauge(g Gauge, v float64)
}

// Noter is what a Sink may be too: it takes a reader's remark on what it did other
// than it was asked, for a person: "UDP was refused (461): read over TCP".
type Noter interface {
	Note(text string)
}

// Note gives a remark to a sink that takes them.
func Note(s Sink, text string) {
	if n, ok := s.(Noter); ok {
		n.Note(text)
	}
}

// Reasoner is what a Sink may be too: it takes what a reader knows of why no frames come
// while its connection stands: "the segments answer 404 Not Found (3 of the last 3)"; ""
// once it no longer holds.
type Reasoner interface {
	Reason(text string)
}

// Reason gives it to a sink that takes it.
func Reason(s Sink, text string) {
	if r, ok := s.(Reasoner); ok {
		r.Reason(text)
	}
}

// Doubter is what a Sink may be too: it takes what an observer knows of its own
// blindness, so that nobody is accused of it.
type Doubter interface {
	// Apart says that the tracks' timestamps have no common origin as far as anyone
	// knows, so that audio can't be set against video; false: from now on they have.
	Apart(apart bool)
	// Missed says that the observer itself missed data of this stream between two
	// times, monotonic ns. It may be told again, with a later end.
	Missed(from, to int64)
}

// Apart tells a sink that takes it.
func Apart(s Sink, apart bool) {
	if d, ok := s.(Doubter); ok {
		d.Apart(apart)
	}
}

// Missed tells a sink that takes it.
func Missed(s Sink, from, to int64) {
	if d, ok := s.(Doubter); ok {
		d.Missed(from, to)
	}
}

// Pacer is what a Sink may be too: it is told when a reader that reads at its own
// pace means to read next. What of that it does too late is the reader's own delay,
// for want of CPU, and nothing that the stream did.
type Pacer interface {
	Sleeps(until int64) // monotonic clock, ns
	Wakes(at int64)
}

// Pace is the sink's Pacer, or one that does nothing.
func Pace(s Sink) Pacer {
	if p, ok := s.(Pacer); ok {
		return p
	}
	return unpaced{}
}

type unpaced struct{}

func (unpaced) Sleeps(int64) {}
func (unpaced) Wakes(int64)  {}

// Options are how to read.
type Options struct {
	Timeout time.Duration // to connect, to be answered, to be let in; 0 is 5 s
	// Every is how often a socket is read at the most: fewer, larger reads cost
	// less, and an arrival is known no better than this. 0 reads as data come.
	Every time.Duration
	Now   func() int64 // the monotonic clock, ns
	// Keys takes key pictures; nil: nobody does, and no payload is kept.
	Keys Keys
	// Sounds takes audio; nil: nobody does, and no payload is kept.
	Sounds Sounds
	// Netns is the path of the network namespace to connect in; "" is snag's own.
	Netns string
}

// Open reads the stream at u until ctx ends, the stream ends, or it can't be read;
// it never returns nil but for ctx. Errors are a *Refused, an *Ended, or say what
// was done to what, and the cure. It allocates no more than a bounded amount
// whatever the server sends.
type Open func(ctx context.Context, u *url.URL, sink Sink, o Options) error

// Refused is a server's no: it is there and does not give this stream.
type Refused struct {
	URL string // without credentials
	Why string // the server's words: "NetStream.Play.StreamNotFound", "404 Not Found"
}

func (e *Refused) Error() string {
	return "read " + e.URL + ": the server refused: " + e.Why + " (is it published under this name, and may this reader have it?)"
}

// Ended is a stream that was there and ended, or whose connection did.
type Ended struct {
	URL string
	Why string // "NetStream.Play.UnpublishNotify", "connection closed by the server"
	// Over says that it had ended before anybody asked: a recording, which nobody
	// watches live. Final: nothing else will ever be at this URL.
	Over, Final bool
}

func (e *Ended) Error() string { return "read " + e.URL + ": ended: " + e.Why }
