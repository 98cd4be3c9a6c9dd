package passive

import (
	"net/netip"
	"strings"

	"snag/internal/amf"
	"snag/internal/rtmp"
	"snag/probes/streams/passive/chunks"
	"snag/probes/streams/stream"
)

// version is the first byte of both sides' handshakes (RTMP 1.0, section 5.2.2).
const version = 3

// maxName bounds what is kept of a name that a peer sent.
const maxName = 512

// rtmpConn is what the two directions of an RTMP connection share.
type rtmpConn struct {
	w              *watcher
	server, client netip.AddrPort
	app, name      string // with their queries, until they are masked
	middle         bool
	sides          [2]*rtmpSide
}

// rtmpSide is one direction.
type rtmpSide struct {
	c        *rtmpConn
	toServer bool
	chunks   *chunks.Follower
	media    media
	sink     stream.Sink
	lost     uint64 // bytes, before there was a sink
	as       Conn
	last     int64 // when bytes came last
	blind    int64 // since when the capture's loss hides the messages; 0: it does not
	apart    bool  // the sink was told so
}

// Data takes the direction's bytes.
func (s *rtmpSide) Data(at int64, b []byte) bool {
	s.chunks.Data(at, b)
	s.sees(at)
	s.last = at
	return true
}

// sees tells the sink while the messages are not known: after a hole, or where the
// chunks were lost. What comes out of the search comes late, with its own times.
func (s *rtmpSide) sees(at int64) {
	if s.chunks.Following() {
		s.blind = 0
		return
	}
	if s.blind == 0 {
		s.blind = max(s.last, 1)
	}
	if s.sink != nil {
		stream.Missed(s.sink, s.blind, at)
	}
}

// Hole takes a loss of the capture.
func (s *rtmpSide) Hole(at int64, n int64) bool {
	s.count(uint64(max(n, 0)))
	if s.sink != nil {
		stream.Missed(s.sink, s.last, at)
	}
	s.chunks.Hole(at, n)
	s.sees(at)
	s.last = at
	return true
}

func (s *rtmpSide) count(n uint64) {
	if s.sink == nil {
		s.lost += n
	} else if n > 0 {
		s.sink.Count(stream.CaptureLost, n)
	}
}

// Closed ends the direction.
func (s *rtmpSide) Closed(at int64, why string) {
	s.chunks.Close()
	if s.sink != nil {
		s.c.w.ended(at, s, s.as, why)
	}
}

// Locked is told by chunks when messages come after a search.
func (s *rtmpSide) Locked(int64, int) {
	s.c.middle = s.c.middle || s.sink == nil
	s.media.clocks.lost()
}

// Message takes what the chunks carry.
func (s *rtmpSide) Message(at int64, m *rtmp.Message) {
	switch m.Type {
	case rtmp.TypeAudio, rtmp.TypeVideo:
		f, p, changed, ok := s.media.frame(at, m)
		if !changed && !ok {
			return
		}
		s.begin(at)
		if changed {
			s.sink.Params(p)
		}
		if apart := !s.media.clocks.known(); apart != s.apart {
			s.apart = apart
			stream.Apart(s.sink, apart)
		}
		if ok {
			s.sink.Frame(f)
		}
	case rtmp.TypeDataAMF0, rtmp.TypeDataAMF3:
		s.media.data(m)
	case rtmp.TypeCommandAMF0:
		s.command(m.Head)
	case rtmp.TypeCommandAMF3:
		if len(m.Head) > 1 {
			s.command(m.Head[1:])
		}
	}
}

// begin makes the sink at the first that is known of the media.
func (s *rtmpSide) begin(at int64) {
	if s.sink != nil {
		return
	}
	s.as = s.c.conn(s.toServer)
	s.sink = s.c.w.begin(at, s.as, s)
	s.count(s.lost)
}

// conn describes the connection as far as it is known.
func (c *rtmpConn) conn(toServer bool) Conn {
	d := Conn{
		Protocol: "rtmp", Side: side(toServer), Middle: c.middle,
		Local: c.server.String(), Remote: c.client.String(),
		Name: unnamed(c.server, c.client, toServer),
	}
	app, _ := masked(c.app)
	name, query := masked(c.name)
	if name != "" {
		d.Name, d.Named = strings.Trim(app+"/"+name, "/"), true
		if app != "" {
			d.URL = "rtmp://" + d.Local + "/" + d.Name + query
		}
	}
	return d
}

// command learns the stream's name from what the client says (RTMP 1.0, section
// 7.2; releaseStream and FCPublish are what encoders send before publish).
func (s *rtmpSide) command(b []byte) {
	values, _ := amf.Decode(b) // what could be read of it
	if len(values) < 3 {
		return
	}
	verb, _ := values[0].(string)
	switch verb {
	case "connect":
		if o, ok := values[2].(amf.Object); ok {
			s.c.app = clip(strings.Trim(o.String("app"), "/"))
		}
	case "publish", "play", "releaseStream", "FCPublish":
		if len(values) < 4 {
			return
		}
		name, _ := values[3].(string)
		if name = clip(name); name == "" || name == s.c.name {
			return
		}
		s.c.name = name
		for _, side := range s.c.sides {
			s.c.w.renamed(side)
		}
	}
}

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxName)], "") }
