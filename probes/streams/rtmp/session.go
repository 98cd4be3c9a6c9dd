package rtmp

import (
	"fmt"

	"snag/internal/amf"
	"snag/probes/streams/stream"
)

// phase is how far a player has come.
type phase uint8

const (
	connecting phase = iota // connect was sent
	creating                // createStream was sent
	asking                  // play was sent
	playing                 // the server said yes, or sends
)

// session is the player's side after the handshake. It does no I/O: bytes come in
// by feed, what has to go out is appended to out.
type session struct {
	to     target
	in     *Parser
	out    []byte
	media  Media
	sink   stream.Sink
	phase  phase
	stream uint32 // message stream id

	published     bool // the sink was told
	local, remote string
	ackEvery      uint32
	acked         uint64
	bandwidth     uint32
}

func newSession(t target, sink stream.Sink) *session {
	s := &session{to: t, in: NewParser(), sink: sink}
	s.command(commandChunk, 0, "connect", 1, amf.Object{
		{Name: "app", Value: t.app},
		{Name: "flashVer", Value: "LNX 9,0,124,2"}, // as librtmp and ffmpeg say: some servers want a player they know
		{Name: "tcUrl", Value: t.tcURL},
		{Name: "fpad", Value: false},
		{Name: "capabilities", Value: 15},
		{Name: "audioCodecs", Value: 4071},
		{Name: "videoCodecs", Value: 252},
		{Name: "videoFunction", Value: 1},
		// Enhanced RTMP v2, "Enhancing NetConnection connect Command": without it
		// a server may keep HEVC, AV1 and Opus back. 14: multitrack, ModEx, nanoseconds.
		{Name: "fourCcList", Value: amf.Array{"av01", "vp09", "hvc1", "avc1", "Opus", "mp4a", ".mp3", "fLaC", "ac-3", "ec-3"}},
		{Name: "capsEx", Value: 14},
	})
	return s
}

func (s *session) command(chunk, messageStream uint32, values ...any) {
	s.send(chunk, TypeCommandAMF0, messageStream, amf.Append(nil, values...))
}

// feed takes bytes of the server that were read at at (monotonic ns). An error is
// the end.
func (s *session) feed(b []byte, at int64) error {
	for len(b) > 0 {
		n, m, err := s.in.Next(b)
		if err != nil {
			return fmt.Errorf("read %s: after %d bytes the server sent what is not RTMP: %w", s.to.shown, s.in.Offset(), err)
		}
		b = b[n:]
		if m == nil {
			break
		}
		if err := s.message(m, at); err != nil {
			return err
		}
	}
	s.acknowledge()
	return nil
}

func (s *session) message(m *Message, at int64) error {
	switch m.Type {
	case TypeWindowAckSize, TypePeerBandwidth, TypeUserControl:
		return s.control(m)
	case TypeCommandAMF0, TypeCommandAMF3:
		values, err := amf.Decode(body(m))
		if len(values) == 0 && err != nil {
			return fmt.Errorf("read %s: a command of the server is unreadable: %w", s.to.shown, err)
		}
		return s.answer(values, at)
	case TypeAudio, TypeVideo, TypeDataAMF0, TypeDataAMF3:
		if s.phase < asking {
			return nil // nobody asked for it yet
		}
		// The sink hears of the stream before its first frame: an empty tag, as
		// servers send to end a sequence, is no stream.
		if !s.published && (m.Type == TypeAudio || m.Type == TypeVideo) && m.Length > 0 {
			s.publish(at)
		}
		if s.media.Message(m, at, s.sink) {
			s.publish(at)
		}
	}
	return nil
}

// publish tells the sink, once, that the stream is there.
func (s *session) publish(at int64) {
	s.phase = playing
	if !s.published {
		s.published = true
		s.sink.Published(at, s.local, s.remote)
	}
}

func (s *session) refused(why string) error {
	return &stream.Refused{URL: s.to.shown, Why: s.to.clean(why)}
}

func (s *session) ended(why string) error {
	return &stream.Ended{URL: s.to.shown, Why: s.to.clean(why)}
}
