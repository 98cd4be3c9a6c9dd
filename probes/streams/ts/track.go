package ts

import "snag/probes/streams/stream"

// times are a frame's, in ns; ok is false where none were told.
type times struct {
	dts, pts int64
	ok       bool
}

// track is one elementary stream on its way into frames.
type track struct {
	entry
	d  *Demuxer
	on bool

	pes    pes
	random bool  // random_access_indicator stood at the PES packet's start
	next   times // of the first frame that begins from here on
	last   times // of the frame before
	step   int64 // between frames, ns
	params stream.Params

	pictures // of video
	blocks   // of audio
}

func (t *track) init(d *Demuxer) {
	t.d = d
	t.onUnit = t.unit
}

// begin sets the track to another stream.
func (t *track) begin(e entry) {
	d, each := t.d, t.onUnit
	*t = track{entry: e, d: d, on: true}
	t.onUnit = each
	t.pes.dead = true // until a PES packet starts
}

// packet takes one with payload. lost reports that some are missing before it.
func (t *track) packet(p *packet, lost bool) {
	if lost {
		t.damaged()
	}
	if p.start {
		t.endPES()
		t.pes.begin()
		t.random = p.random
	}
	body, opened := t.pes.add(p.payload)
	if opened {
		t.startPES(body)
	}
	if len(body) > 0 {
		if t.kind == stream.Video {
			t.videoBody(body)
		} else {
			t.audioBody(body)
		}
	}
	if t.pes.done() {
		t.endPES()
		t.pes.dead = true
	}
}

// startPES takes the times of the PES packet that opens.
func (t *track) startPES(body []byte) {
	t.next = times{}
	if t.pes.has {
		// PTS first would move the clock to where the picture is shown.
		dts := t.d.clock.Ticks(t.pes.dts)
		ahead := int64(t.pes.pts-t.pes.dts) << 31 >> 31
		t.next = times{dts: stream.NS90(dts), pts: stream.NS90(dts + ahead), ok: true}
	}
	if t.kind == stream.Video {
		t.videoStart(body)
	}
}

// endPES is called when a PES packet is whole or another one starts.
func (t *track) endPES() {
	if t.kind == stream.Video && t.how == perPES && t.pes.open && t.pes.body > 0 {
		t.wholePES()
	}
	// Frames that are told apart by their own bytes may go on in the next one,
	// but a picture whose PES packet is as long as told ends with it.
	if t.kind == stream.Video && t.how == byNAL && t.pes.done() {
		t.endPicture()
	}
	t.pes.open = false
}

func (t *track) damaged() {
	if t.kind == stream.Audio {
		t.lostBlocks()
	}
	t.whole.Drop()
}

func (t *track) flush() {
	if !t.on {
		return
	}
	t.endPES()
	if t.kind == stream.Video && t.how == byNAL {
		t.endPicture()
	}
	t.pes.begin()
	t.pes.dead = true
}

// takeTimes gives the frame that begins now its times: those told for it, or the
// frame's before and a step on.
func (t *track) takeTimes() times {
	now := t.next
	if now.ok {
		if d := now.dts - t.last.dts; t.last.ok && d > 0 && d < 1e9 && t.kind == stream.Video {
			t.step = d
		}
	} else if t.last.ok {
		now = times{dts: t.last.dts + t.step, pts: t.last.dts + t.step, ok: true}
	}
	t.next = times{}
	t.last = now
	return now
}

func (t *track) emit(at times, key bool, size int, arrival int64) {
	if !at.ok { // before the first timestamp nothing can be placed
		return
	}
	if t.params.Codec == "" {
		t.tell(stream.Params{Kind: t.kind, Codec: t.codec, Channels: t.channels})
	}
	t.d.given = true
	t.d.sink.Frame(stream.Frame{Kind: t.kind, Key: key, Arrival: arrival, DTS: at.dts, PTS: at.pts, Size: size})
}

func (t *track) tell(p stream.Params) {
	if p == t.params {
		return
	}
	t.params = p
	if p.FPS > 0 && t.step == 0 {
		t.step = int64(1e9 / p.FPS)
	}
	t.d.sink.Params(p)
}

// wholePES is a frame of a codec whose bytes are not looked at.
func (t *track) wholePES() {
	t.emit(t.takeTimes(), t.random, t.pes.body, t.lastByte)
	t.random = false
}

// is reports whether the track is of a codec.
func (t *track) is(name string) bool { return t.codec == name }
