package ps

import (
	"time"

	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// codecs by stream_type: table 2-34, and what GB/T 28181 C.2.4 adds from 0x80 on.
var codecs = map[uint8]string{
	0x01: "mpeg1video", 0x02: codec.MP2V, 0x03: codec.MP2, 0x04: codec.MP2, 0x0f: codec.AAC, 0x10: "mpeg4", 0x1b: codec.H264, 0x24: codec.HEVC,
	0x80: "svac", 0x90: codec.PCMA, 0x91: codec.PCMU, 0x92: "g7221", 0x93: "g7231", 0x99: "g729", 0x9b: "svac-audio",
}

// stamp is the times of one PES packet.
type stamp struct {
	ok       bool
	pts, dts int64 // ns
}

// track is the video or the audio.
type track struct {
	sink   stream.Sink
	kind   stream.Kind
	id     uint8
	kindOf uint8 // stream_type
	params stream.Params
	clock  stream.Clock90

	now            stamp // of the PES packet being read; taken by the first unit that begins in it
	size           int   // of it, so far
	at             int64 // arrival of the last bytes
	begun          bool  // a PES packet's first bytes are yet to come
	zeros          int   // at the end of what came, 3 at the most
	carry, leading int   // zeros at the end of the PES packet before, at the beginning of this one

	// Codecs of NAL units.
	walk   codec.AnnexB
	each   func(head []byte, size int) // unit, bound once
	before int64                       // arrival of the bytes before the piece being walked
	had    int                         // size of the unit under way before it
	unitAt stamp                       // times that were in force where the unit under way began
	hold   stamp                       // those of the PES packet before, while a start code is split
	frame  frame
	keyed  keyed
	heard  heard
	last   stamp
	step   int64
}

// frame is the one being put together.
type frame struct {
	coded, key, open bool
	size             int
	at               int64
	when             stamp
}

func (t *track) nal() bool { return t.params.Codec == codec.H264 || t.params.Codec == codec.HEVC }

// setType is told what the map says of the stream; 0 is nothing.
func (t *track) setType(v uint8) {
	if v == 0 || v == t.kindOf {
		return
	}
	t.kindOf = v
	name := codecs[v]
	if name == "" {
		name = "unknown"
	}
	p := stream.Params{Kind: t.kind, Codec: name}
	if name == codec.PCMA || name == codec.PCMU {
		p.SampleRate, p.Channels = 8000, 1 // RFC 3551 4.5.14, and what GB/T 28181 has
	}
	t.tell(p)
}

func (t *track) tell(p stream.Params) {
	p.Kind = t.kind
	if p.Codec == "" {
		p.Codec = t.params.Codec
	}
	if p != t.params {
		t.params = p
		t.sink.Params(p)
	}
}

// packetBegins takes a PES header whose first bits were seen to be MPEG-2's.
func (t *track) packetBegins(h []byte) {
	t.hold = t.now
	t.begun, t.carry, t.leading = true, t.zeros, 0
	s := stamp{}
	if h[7]&0x80 != 0 && len(h) >= 14 {
		s.ok, s.pts = true, t.clock.NS(ticks(h[9:]))
		s.dts = s.pts
		if h[7]&0x40 != 0 && len(h) >= 19 {
			s.dts = t.clock.NS(ticks(h[14:]))
		}
	}
	if t.kind == stream.Video && !t.nal() && s.ok && t.params.Codec != "" {
		t.end() // pictures can't be told from each other but by their times
	}
	t.now = s
	if t.heard.sounds != nil {
		t.heard.begin(s)
	}
}

// ticks reads a PTS or DTS: 33 bits of 90 kHz (2.4.3.7).
func ticks(b []byte) uint64 {
	return uint64(b[0]>>1&7)<<30 | uint64(b[1])<<22 | uint64(b[2]>>1)<<15 | uint64(b[3])<<7 | uint64(b[4]>>1)
}

func (t *track) feed(b []byte, at int64) {
	t.before, t.at = t.at, at
	if t.before == 0 {
		t.before = at
	}
	switch {
	case t.kind == stream.Audio:
		if t.size == 0 && (t.params.Codec == "" || t.params.Codec == codec.AAC) {
			t.adts(b)
		}
		t.size += len(b)
		t.heard.second.Add(b)
	case t.nal() || t.params.Codec == "":
		t.units(b)
	default:
		f := &t.frame
		if t.now.ok {
			f.when, t.now.ok = t.now, false
		}
		f.open, f.coded, f.at = true, true, at
		f.size += len(b)
	}
}

// units walks over NAL units.
func (t *track) units(b []byte) {
	if t.nal() {
		t.keyed.feed(b, t.walk.Taken())
	}
	head, size := t.walk.Head()
	t.had = size
	if head == nil && t.now.ok {
		t.unitAt, t.now.ok = t.now, false
	}
	for t.begun && len(b) > 0 {
		t.lead(b[:1])
		b = b[1:]
		_, t.had = t.walk.Head()
	}
	t.walk.Feed(b, t.each)
	t.zeros = trailing(b, t.zeros)
}

// lead walks over one of a PES packet's first bytes. A start code that began in the
// packet before ends here: its unit has the times of that one.
func (t *track) lead(b []byte) {
	now := t.now
	switch {
	case b[0] == 0 && t.leading == 0:
		t.leading++
	case b[0] == 1 && t.carry+t.leading >= 2:
		t.now, t.begun = t.hold, false
		t.walk.Feed(b, t.each)
		t.now, t.zeros = now, 0
		return
	default:
		t.begun = false
	}
	t.walk.Feed(b, t.each)
	t.zeros = trailing(b, t.zeros)
}

func trailing(b []byte, before int) int {
	n := 0
	for n < len(b) && n < 3 && b[len(b)-1-n] == 0 {
		n++
	}
	if n == len(b) {
		n = min(n+before, 3)
	}
	return n
}

// unit takes a NAL unit that ended.
func (t *track) unit(head []byte, size int) {
	if t.params.Codec == "" {
		name := sniff(head)
		if name == "" {
			return
		}
		t.tell(stream.Params{Codec: name})
	}
	i := codec.NAL(t.params.Codec, head)
	t.keyed.unit(t.params.Codec, i, t.walk.Begin(), t.before)
	f := &t.frame
	if i.Begins && f.coded {
		t.give()
	}
	if !f.open {
		f.open, f.when = true, t.unitAt
	}
	f.size += size
	f.coded = f.coded || i.Slice
	f.key = f.key || i.Key || i.Recovery
	// Where nothing of it was in this piece, it was whole before.
	f.at = t.at
	if size == t.had {
		f.at = t.before
	}
	t.had = 0
	if i.SPS {
		if p, err := codec.SPS(t.params.Codec, head); err == nil {
			p.Codec = t.params.Codec
			t.tell(p)
		}
	}
	t.unitAt, t.now.ok = t.now, false
}

// end gives the picture under way: nothing more of it comes.
func (t *track) end() {
	if t.nal() {
		t.had = -1
		t.walk.End(t.each)
	}
	t.give()
}

// broken: bytes are missing; what there is of the picture is given.
func (t *track) broken() {
	t.give()
	t.frame = frame{}
	t.keyed.drop()
	t.heard.drop()
	t.walk.Reset()
	t.now, t.unitAt, t.zeros, t.size = stamp{}, stamp{}, 0, 0
}

func (t *track) give() {
	f := t.frame
	if !f.coded {
		return
	}
	t.frame = frame{}
	if !f.when.ok {
		if !t.last.ok {
			return // before the first times
		}
		f.when = stamp{true, t.last.dts + t.step, t.last.dts + t.step}
	} else if d := f.when.dts - t.last.dts; t.last.ok && d > 0 && d < int64(time.Second) {
		t.step = d
	}
	if t.step == 0 {
		t.step = int64(40 * time.Millisecond)
	}
	t.last = f.when
	t.sink.Frame(stream.Frame{Kind: t.kind, Key: f.key, Arrival: f.at, PTS: f.when.pts, DTS: f.when.dts, Size: f.size})
}

// packetEnds: a block of sound is what one PES packet has.
func (t *track) packetEnds() {
	if t.heard.sounds != nil {
		t.heard.end(t.params, t.size, t.at)
	}
	if t.kind != stream.Audio || !t.now.ok || t.size == 0 {
		return // bytes without a time go with the next block
	}
	t.sink.Frame(stream.Frame{Kind: t.kind, Arrival: t.at, PTS: t.now.pts, DTS: t.now.dts, Size: t.size})
	t.size = 0
}

func (t *track) adts(b []byte) {
	if h, err := codec.ADTS(b); err == nil {
		p := h.Params
		p.Codec = codec.AAC
		t.tell(p)
	}
}

// sniff finds the codec of a video without a map, as some senders and ffmpeg leave
// it out: by the unit that its first key picture begins with.
func sniff(unit []byte) string {
	switch {
	case len(unit) < 2:
	case unit[0] == 0x40 && unit[1] == 1: // HEVC: VPS
		return codec.HEVC
	case unit[0]&0x9f == 7: // H.264: SPS
		return codec.H264
	case unit[0] == 0xb3: // MPEG-2: sequence header
		return codec.MP2V
	}
	return ""
}
