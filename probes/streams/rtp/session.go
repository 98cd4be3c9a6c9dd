package rtp

import (
	"sync"
	"time"

	"snag/probes/streams/stream"
	"snag/probes/streams/ts"
)

// learned pictures, or so long, are waited for before the first is given.
const (
	learned    = 8
	learnFor   = 500 * time.Millisecond
	maxPending = 128 // frames of all kinds held for that
	// RTP-Info is believed when the first packet is not further from it.
	originTrust = 10 * time.Second
)

// Session receives the tracks of one stream and gives their frames to a sink. Its
// methods may be called from several goroutines; the sink is called by one at a
// time. Frames come in the order in which they were complete; one that waited for
// a missing packet of its track comes after frames of the other track, up to Wait.
type Session struct {
	mu     sync.Mutex
	sink   stream.Sink
	tracks []*track
	order  order
	epoch  int64 // arrival of the first packet
	begun  bool
	wall   int64 // NTP ns at the session's time 0, by the first track with a report; 0: not known
	// Until the pictures' reordering is known, frames wait.
	pending  []waiting
	pictured Jitter // of pictures, where they are reordered
	pictures int
	settled  bool
	packets  uint64
	parted   bool // the sink was told that the tracks have no common origin
	// MPEG-TS in RTP (RFC 2250): the one track, of which both picture and sound come.
	inside *ts.Wrapped
}

// transport is the codec of a track that is a transport stream.
const transport = "mpegts"

// NewSession makes a session of tracks and tells the sink what they say of
// themselves. Two tracks of one kind are not told apart by a sink: give one of each.
func NewSession(formats []Format, sink stream.Sink) *Session {
	s := &Session{sink: sink, settled: true}
	for _, f := range formats {
		f.told = sink.Params
		t := newTrack(f)
		t.out, t.begun = s.frame, s.place
		s.tracks = append(s.tracks, t)
		switch {
		case f.Codec == transport && len(formats) == 1:
			s.inside = ts.NewWrapped(sink)
		case f.Kind == stream.Video:
			s.settled = false
		}
	}
	return s
}

// Tell gives the sink what the SDP says of the tracks. Call it once the stream is
// published.
func (s *Session) Tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside != nil {
		return // its tables tell
	}
	for _, t := range s.tracks {
		p := t.f.Params
		p.Kind, p.Codec = t.f.Kind, t.f.Codec
		t.f.Params = p
		s.sink.Params(p)
	}
}

// Packets is how many RTP packets were taken.
func (s *Session) Packets() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.packets
}

// Origin sets a track's clock by RTP-Info: rtptime is at 0 of the session.
func (s *Session) Origin(track int, rtptime uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.at(track); t != nil && !t.window.started {
		t.offset, t.fixed = t.clock.at(rtptime), true
	}
}

func (s *Session) at(track int) *track {
	if track < 0 || track >= len(s.tracks) {
		return nil
	}
	return s.tracks[track]
}

// RTP takes a packet of a track that came at at, monotonic ns. b is not kept.
func (s *Session) RTP(track int, at int64, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.at(track)
	if t == nil {
		return
	}
	if s.inside != nil {
		s.packets++
		s.inside.Packet(b, at)
		return
	}
	before := t.window.Counts.Received
	t.packet(at, b)
	s.packets += t.window.Counts.Received - before
	s.count(t)
}

// RTCP takes a compound packet of a track's sender. It returns true once every
// track's sender has said goodbye (RFC 3550 6.6).
func (s *Session) RTCP(track int, at int64, b []byte) (bye bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.at(track)
	if t == nil {
		return false
	}
	t.rtcp(at, b)
	s.align(t)
	bye = true
	for _, t := range s.tracks {
		bye = bye && (t.gone || !t.window.started)
	}
	return bye && t.gone
}

// Tick ends waits that are over. Call it every 50 ms or so when no packets come.
func (s *Session) Tick(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside != nil {
		s.inside.Idle(now)
	}
	for _, t := range s.tracks {
		t.window.Expire(now)
		s.count(t)
	}
	if len(s.pending) > 0 && now-s.pending[0].Arrival >= int64(learnFor) {
		s.settle()
	}
}

// End gives what waited, as nothing more comes.
func (s *Session) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside != nil {
		s.inside.Flush()
	}
	for _, t := range s.tracks {
		t.window.flush()
		t.finish()
		s.count(t)
	}
	s.settle()
}

// Report is the receiver report for a track's sender; nil when there is nothing to
// report on.
func (s *Session) Report(track int, now int64, own uint32) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.at(track); t != nil {
		return t.receiverReport(now, own)
	}
	return nil
}

// count tells the sink what was counted since the last time.
func (s *Session) count(t *track) {
	t.told = t.window.Counts.Tell(s.sink, t.told)
}

// place sets a track's offset at its first packet, and when its sender began anew.
func (s *Session) place(t *track, at, ns int64) {
	if !s.begun {
		s.begun, s.epoch = true, at
	}
	byArrival := ns - (at - s.epoch)
	// Some servers' RTP-Info is made up (rtptime=0): then it is far from the first packet.
	if off := t.offset - byArrival; t.fixed && off < int64(originTrust) && off > -int64(originTrust) {
		s.align(t)
		return
	}
	t.offset, t.fixed = byArrival, false
	s.align(t)
}

// align moves a track's times so that tracks whose senders reported are on one
// wall clock. The first such track stays where it is; where there is video, the
// others go by it.
func (s *Session) align(t *track) {
	if !t.report.sender || !t.window.started {
		return
	}
	// The wall's time at 0 of the session, as this track has it.
	wall := t.report.ntp - (t.clock.peek(t.report.rtp) - t.offset)
	if s.wall == 0 {
		if t.f.Kind != stream.Video && s.hasVideo() {
			return // the video's report is waited for
		}
		s.wall, t.fixed = wall, true
		for _, o := range s.tracks {
			s.align(o)
		}
		return
	}
	if !t.fixed { // wall must become s.wall
		t.offset += s.wall - wall
		t.fixed = true
	}
}

func (s *Session) hasVideo() bool {
	for _, t := range s.tracks {
		if t.f.Kind == stream.Video {
			return true
		}
	}
	return false
}

// waiting is a frame, and when its first packet came.
type waiting struct {
	stream.Frame
	first int64
}

// frame takes a frame from a track, its DTS not yet derived.
func (s *Session) frame(f stream.Frame, first int64) {
	if s.settled {
		s.pass(f, first)
		return
	}
	s.pending = append(s.pending, waiting{f, first})
	if f.Kind == stream.Video {
		s.pictures++
	}
	if s.pictures >= learned || len(s.pending) >= maxPending || f.Arrival-s.pending[0].Arrival >= int64(learnFor) {
		s.settle()
	}
}

// settle learns the reordering from the pictures that wait, and gives them.
func (s *Session) settle() {
	if s.settled {
		return
	}
	s.settled = true
	var pts []int64
	for _, f := range s.pending {
		if f.Kind == stream.Video {
			pts = append(pts, f.PTS)
		}
	}
	if len(pts) > 0 {
		s.order.learn(pts)
	}
	for _, f := range s.pending {
		s.pass(f.Frame, f.first)
	}
	s.pending = nil
}

func (s *Session) pass(f stream.Frame, first int64) {
	if f.Kind == stream.Video {
		f.DTS = s.order.dts(f.PTS)
		s.pictured.picture(first, f.DTS)
	}
	if f.Kind == stream.Video || !s.hasVideo() {
		s.sink.Gauge(stream.Jitter, s.jitter(f.Kind))
	}
	if apart := s.apart(); apart != s.parted {
		s.parted = apart
		stream.Apart(s.sink, apart)
	}
	s.sink.Frame(f)
}

// apart says that the tracks' clocks are put together by arrival alone.
func (s *Session) apart() bool {
	if len(s.tracks) < 2 {
		return false
	}
	for _, t := range s.tracks {
		if t.window.started && !t.fixed {
			return true
		}
	}
	return false
}

// jitter is of the packets of one kind; of pictures where they are reordered.
func (s *Session) jitter(kind stream.Kind) float64 {
	if kind == stream.Video && s.order.depth > 0 {
		return s.pictured.Seconds()
	}
	for _, t := range s.tracks {
		if t.f.Kind == kind {
			return t.jitter.Seconds()
		}
	}
	return 0
}
