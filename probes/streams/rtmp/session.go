// Package rtmp reads live streams over RTMP and RTMPS: Open is the player, which uses
// snag/internal/rtmp for what goes over the wire.
package rtmp

import (
	"errors"
	"fmt"

	"snag/internal/rtmp"
	"snag/probes/streams/stream"
)

// session is a player after the handshake, whose frames go to a sink. It does no I/O.
type session struct {
	*rtmp.Client
	to            rtmp.Target
	media         Media
	sink          stream.Sink
	local, remote string
}

func newSession(t rtmp.Target, sink stream.Sink) *session {
	s := &session{to: t, sink: sink}
	s.Client = rtmp.NewPlayer(t, s)
	return s
}

// Appeared implements rtmp.Listener.
func (s *session) Appeared(at int64) { s.sink.Published(at, s.local, s.remote) }

// Media implements rtmp.Listener.
func (s *session) Media(m *rtmp.Message, at int64) bool { return s.media.Message(m, at, s.sink) }

// keep has the parser keep whole what somebody wants so.
func (s *session) keep(o stream.Options) {
	s.media.Keys, s.media.Sounds = o.Keys, o.Sounds
	if o.Keys != nil {
		s.In.Keys = rtmp.Wanting{By: o.Keys, Most: stream.MostKey}
	}
	if o.Sounds != nil {
		s.In.Sounds = rtmp.Wanting{By: o.Sounds, Most: stream.MostSound}
	}
}

// feed takes bytes of the server that were read at at (monotonic ns). An error is
// the end.
func (s *session) feed(b []byte, at int64) error {
	err := s.Feed(b, at)
	var refused *rtmp.Refused
	var ended *rtmp.Ended
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		if c, ok := challengeIn(refused.Words); refused.Connect && ok {
			return c
		}
		return &stream.Refused{URL: s.to.Shown, Why: s.to.Clean(refused.Why)}
	case errors.As(err, &ended):
		return s.ended(ended.Why)
	}
	return fmt.Errorf("read %s: %w", s.to.Shown, err)
}

func (s *session) ended(why string) error {
	return &stream.Ended{URL: s.to.Shown, Why: s.to.Clean(why)}
}
