// Package rtmp speaks RTMP (Adobe, "Real Time Messaging Protocol", 1.0, 2012;
// veovera, "Enhanced RTMP" v2). Its Parser turns one direction of a connection into
// messages and keeps no more of each than is needed to tell what it is. Client is what
// a player or a publisher says. Neither does I/O.
package rtmp

// Message types (RTMP 1.0, sections 5.4, 6.2 and 7.1).
const (
	TypeSetChunkSize     = 1
	TypeAbort            = 2
	TypeAck              = 3
	TypeUserControl      = 4
	TypeWindowAckSize    = 5
	TypePeerBandwidth    = 6
	TypeAudio            = 8
	TypeVideo            = 9
	TypeDataAMF3         = 15
	TypeSharedObjectAMF3 = 16
	TypeCommandAMF3      = 17
	TypeDataAMF0         = 18
	TypeSharedObjectAMF0 = 19
	TypeCommandAMF0      = 20
	TypeAggregate        = 22
)

// Events of user control messages (section 7.1.7).
const (
	EventStreamBegin     = 0
	EventStreamEOF       = 1
	EventStreamDry       = 2
	EventSetBufferLength = 3
	EventStreamRecorded  = 4
	EventPingRequest     = 6
	EventPingResponse    = 7
)

// What is kept of a message, in bytes.
const (
	Keep       = 64       // of audio and video: the tag's head and the first NAL units
	MaxConfig  = 4 << 10  // of a sequence header, which has the parameter sets
	MaxCommand = 32 << 10 // of commands and metadata
	// MaxKept is of all chunk streams of a connection together.
	MaxKept = 128 << 10
	// MaxChunkStreams bounds what a peer can make a Parser remember. Servers and
	// encoders use three to ten.
	MaxChunkStreams = 64
	// MaxChunkSize is the largest chunk that is believed: a message is 16,777,215
	// bytes at the most (section 5.4.1).
	MaxChunkSize = 1 << 24
	// FirstChunkSize is until the peer says otherwise (section 5.4.1).
	FirstChunkSize = 128
)

// Header is what a chunk stream says of a message (section 5.3.1).
type Header struct {
	Chunk     uint32 // chunk stream id, 2–65599
	Type      uint8  // one of the Type… constants, or another that a peer made up
	Stream    uint32 // message stream id
	Length    uint32 // bytes of payload, under 2^24
	Timestamp uint32 // ms, wraps; the message's own, deltas added
}

// Message is a message whose last byte was seen.
type Message struct {
	Header
	// Head is the payload's beginning: as much as the Keep… and Max… constants
	// tell. It is whole where len(Head) == Length, and good until the next call.
	Head []byte
	// Whole is all of a key picture or of audio, where the parser's Keys or Sounds want it, else nil.
	Whole []byte
	// Relative says that no absolute timestamp was seen on this chunk stream (a
	// capture that began mid-way): Timestamp counts from 0.
	Relative bool
	// Cut says that bytes of Head are missing that were on the wire: the parser
	// was seeded inside the message, or was told to Skip.
	Cut bool
	// Aggregated says that it came inside an aggregate message (section 7.1.6).
	Aggregated bool
}

// Impossible is why bytes can't be RTMP chunks, or not those that a parser in
// this state would be given. Parser.Offset reports where. A parser that said it once
// says it until Reset.
type Impossible uint8

// Reasons.
const (
	_                Impossible = iota
	NoHeader                    // a chunk goes on from a header that was never sent
	TooManyStreams              // more chunk streams than MaxChunkStreams
	BadChunkSize                // a chunk size of 0, or over MaxChunkSize
	BadControl                  // a protocol control message of a wrong length
	UnknownType                 // Strict: a message type that the specification has not
	BadControlStream            // Strict: a protocol control message outside message stream 0
	Unfinished                  // Strict: a new message before the last one of its chunk stream was whole
	BadAggregate                // Strict: an aggregate whose parts do not add up
)

func (e Impossible) Error() string {
	switch e {
	case NoHeader:
		return "a chunk goes on from a header that was never sent"
	case TooManyStreams:
		return "more than 64 chunk streams"
	case BadChunkSize:
		return "a chunk size of 0 or more than 16 MiB"
	case BadControl:
		return "a protocol control message of a wrong length"
	case UnknownType:
		return "an unknown message type"
	case BadControlStream:
		return "a protocol control message outside message stream 0"
	case Unfinished:
		return "a new message before the last one was whole"
	case BadAggregate:
		return "an aggregate message whose parts do not add up"
	}
	return "not RTMP chunks"
}
