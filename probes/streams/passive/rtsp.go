package passive

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"snag/probes/streams/passive/interleaved"
	"snag/probes/streams/rtp"
	"snag/probes/streams/stream"
)

// maxTracks of a connection are followed.
const maxTracks = 8

// maxRequests are remembered until they are answered.
const maxRequests = 32

// rtspConn is what the two directions of an RTSP connection share.
type rtspConn struct {
	w              *watcher
	server, client netip.AddrPort
	url            string
	protocol       string // rtsp, or rtp where nothing set it up
	middle         bool
	asked          map[string]request // by CSeq
	media          []rtp.Media
	tracks         []rtspTrack
	sides          [2]*rtspSide
}

type request struct{ method, url string }

// rtspTrack is a track that was set up.
type rtspTrack struct {
	rtp.Media
	channel uint8 // of RTP; of RTCP one more
}

// rtspSide is one direction.
type rtspSide struct {
	c        *rtspConn
	toServer bool
	framer   *interleaved.Framer
	session  *rtp.Session
	sink     *holed
	as       Conn
	guess    guess
	lost     uint64
	last     int64 // when bytes came last
	blind    int64 // since when a hole hides where packets begin; 0: it does not
}

// holed takes losses that are the capture's out of those of the network: over TCP
// a gap in the sequence is the sender's own doing, or a hole.
type holed struct {
	stream.Sink
	hole, at int64
}

// Apart passes on.
func (h *holed) Apart(apart bool) { stream.Apart(h.Sink, apart) }

// Missed passes on, and remembers it for what RTP's sequence will show.
func (h *holed) Missed(from, to int64) {
	h.hole = max(h.hole, to)
	stream.Missed(h.Sink, from, to)
}

// Frame notes the time.
func (h *holed) Frame(f stream.Frame) {
	h.at = max(h.at, f.Arrival)
	h.Sink.Frame(f)
}

// Count passes on what is no hole's doing.
func (h *holed) Count(c stream.Count, n uint64) {
	const aftermath = 2e9 // ns: RTP's reorder window and the spacing of frames
	if c == stream.PacketsLost && h.hole != 0 && h.at-h.hole < aftermath {
		return
	}
	h.Sink.Count(c, n)
}

// Data takes the direction's bytes.
func (s *rtspSide) Data(at int64, b []byte) bool {
	s.framer.Data(at, b)
	if !s.framer.Synced() && s.blind == 0 {
		s.blind = max(s.last, 1)
	}
	if s.blind != 0 && s.sink != nil {
		s.sink.Missed(s.blind, at)
	}
	if s.framer.Synced() {
		s.blind = 0
	}
	s.last = at
	return true
}

// Hole takes a loss of the capture.
func (s *rtspSide) Hole(at int64, n int64) bool {
	s.framer.Hole(n)
	if s.sink == nil {
		s.lost += uint64(max(n, 0))
		return true
	}
	s.sink.Missed(s.last, at)
	s.last = at
	s.sink.Sink.Count(stream.CaptureLost, uint64(max(n, 0)))
	return true
}

// Closed ends the direction.
func (s *rtspSide) Closed(at int64, why string) {
	if s.session == nil {
		return
	}
	delete(s.c.w.sessions, s.session)
	s.c.w.forget(s)
	s.c.w.ended(at, s, s.as, why)
}

// Packet takes an interleaved packet: even channels are RTP, as every server sets
// them up.
func (s *rtspSide) Packet(at int64, channel uint8, b []byte) {
	track := s.c.track(channel)
	if track < 0 && len(s.c.tracks) == 0 {
		s.learn(at, channel, b)
		return
	}
	if track < 0 {
		return
	}
	if s.session == nil {
		s.begin(at)
	}
	if channel == s.c.tracks[track].channel {
		s.session.RTP(track, at, b)
	} else {
		s.session.RTCP(track, at, b)
	}
}

func (c *rtspConn) track(channel uint8) int {
	for i, t := range c.tracks {
		if channel == t.channel || channel == t.channel+1 {
			return i
		}
	}
	return -1
}

// learn guesses the tracks of a connection whose description was not captured.
func (s *rtspSide) learn(at int64, channel uint8, b []byte) {
	formats, channels := s.guess.packet(channel, b)
	for i, f := range formats {
		s.c.tracks = append(s.c.tracks, rtspTrack{rtp.Media{Format: f}, channels[i]})
	}
	if len(formats) > 0 {
		s.c.middle = true
		s.begin(at)
	}
}

func (s *rtspSide) begin(at int64) {
	c := s.c
	s.as = Conn{
		Protocol: c.protocol, Side: side(s.toServer), Middle: c.middle,
		Local: c.server.String(), Remote: c.client.String(),
		Name: unnamed(c.server, c.client, s.toServer),
	}
	if u, err := url.Parse(c.url); err == nil && c.url != "" {
		u.User = nil
		_, query := masked("?" + u.RawQuery)
		u.RawQuery = ""
		s.as.URL = u.String() + query
		if name := strings.Trim(u.Path, "/"); name != "" {
			s.as.Name, s.as.Named = name, true
		}
	}
	s.sink = &holed{Sink: c.w.begin(at, s.as, s)}
	var formats []rtp.Format
	for _, t := range c.tracks {
		formats = append(formats, t.Format)
	}
	s.session = rtp.NewSession(formats, s.sink)
	s.session.Tell()
	if s.lost > 0 {
		s.sink.Sink.Count(stream.CaptureLost, s.lost)
	}
	c.w.sessions[s.session] = true
}

// Text takes a request or an answer (RFC 2326, sections 6 and 7).
func (s *rtspSide) Text(_ int64, m interleaved.Message) {
	c := s.c
	if status, ok := strings.CutPrefix(m.First, "RTSP/"); ok {
		asked := c.asked[m.Get("CSeq")]
		delete(c.asked, m.Get("CSeq"))
		if _, code, _ := strings.Cut(status, " "); !strings.HasPrefix(code, "200") {
			return
		}
		switch asked.method {
		case "DESCRIBE":
			c.describe(asked.url, m.Body)
		case "SETUP":
			c.setup(asked.url, m.Get("Transport"))
		}
		return
	}
	method, rest, _ := strings.Cut(m.First, " ")
	link, _, _ := strings.Cut(rest, " ")
	if method == "ANNOUNCE" {
		c.describe(link, m.Body)
	}
	if len(c.asked) < maxRequests {
		c.asked[m.Get("CSeq")] = request{method, clip(link)}
	}
	if c.url == "" && (method == "PLAY" || method == "RECORD" || method == "DESCRIBE") {
		c.url = clip(link)
	}
}

func (c *rtspConn) describe(link string, body []byte) {
	d, err := rtp.ParseSDP(body)
	if err != nil {
		return
	}
	c.url, c.media = clip(link), d.Media
}

// setup learns the channels of a track from the server's answer (12.39).
func (c *rtspConn) setup(link, transport string) {
	channel := -1
	for part := range strings.SplitSeq(transport, ";") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(part), "interleaved="); ok {
			first, _, _ := strings.Cut(v, "-")
			if n, err := strconv.ParseUint(first, 10, 8); err == nil {
				channel = int(n)
			}
		}
	}
	if len(c.tracks) >= maxTracks {
		return
	}
	for i, m := range c.media {
		if m.Control != "" && strings.HasSuffix(strings.TrimRight(link, "/"), m.Control[strings.LastIndexByte(m.Control, '/')+1:]) || len(c.media) == 1 {
			if channel >= 0 {
				c.tracks = append(c.tracks, rtspTrack{m, uint8(channel)})
			} else if !c.overUDP(transport, m) {
				return
			}
			c.media = append(c.media[:i:i], c.media[i+1:]...)
			return
		}
	}
}
