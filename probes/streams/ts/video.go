package ts

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// pictures is a video track's state: where the picture under way began.
type pictures struct {
	walk     codec.AnnexB
	onUnit   func(head []byte, size int)
	at       times
	begun    bool // a picture is under way, if only its parameter sets
	coded    bool // with a slice
	key      bool
	from     int   // where it began, by walk.Begin
	lastByte int64 // when its last byte so far came
	unitAt   int   // where the unit under way began,
	unitTime int64 // and when
	whole    stream.Whole
	fields   bool // interlaced: two fields in one PES packet are one frame
}

// videoStart is called with the first bytes of a PES packet's body.
func (t *track) videoStart(body []byte) {
	if t.how != byNAL {
		return
	}
	// A packet with a time, whose bytes begin with a start code, begins a picture;
	// others may go on with the one before (2.7.5 asks for no alignment).
	if t.next.ok && startsUnit(body) {
		t.endPicture()
		t.beginPicture(0)
		if !t.sealed {
			t.whole.Begin(t.d.Keys)
		}
	}
}

func startsUnit(b []byte) bool {
	return len(b) >= 3 && b[0] == 0 && b[1] == 0 && (b[2] == 1 || b[2] == 0 && len(b) > 3 && b[3] == 1)
}

func (t *track) beginPicture(from int) {
	t.begun, t.coded, t.from = true, false, from
	t.key, t.random = t.random, false
	t.at = t.takeTimes()
}

func (t *track) videoBody(b []byte) {
	if t.how == byNAL {
		t.whole.Add(b)
		t.walk.Feed(b, t.onUnit)
		if at := t.walk.Begin(); at != t.unitAt {
			t.unitAt, t.unitTime = at, t.d.arrival
		}
	}
	t.lastByte = t.d.arrival
}

// unit is called for each NAL unit that is whole.
func (t *track) unit(head []byte, _ int) {
	if t.is(codec.MP2V) {
		t.mpeg2(head)
		return
	}
	i := codec.NAL(t.codec, head)
	if i.Begins && t.coded && !t.fields {
		// The picture before ended where this unit begins, when that came.
		t.emit(t.at, t.key, t.walk.Begin()-t.from, t.unitTime)
		t.whole.Drop()
		t.beginPicture(t.walk.Begin())
	}
	if !t.begun {
		t.beginPicture(t.walk.Begin())
	}
	t.coded = t.coded || i.Slice
	t.key = t.key || i.Key || i.Recovery
	if i.SPS {
		if p, err := codec.SPS(t.codec, head); err == nil {
			t.tell(p)
			t.fields = t.is(codec.H264) && codec.H264Fields(head)
		}
	}
}

// mpeg2 looks at a start code's unit of MPEG-2 video (ISO/IEC 13818-2 6.2).
func (t *track) mpeg2(head []byte) {
	switch {
	case head[0] == 0xb3:
		if p, err := codec.MPEG2Sequence(head); err == nil {
			t.tell(p)
		}
	case head[0] == 0 && len(head) > 2:
		t.coded = true
		t.key = t.key || head[2]>>3&7 == 1 // picture_coding_type I
	}
}

// endPicture gives the picture under way. Parameter sets alone are none.
func (t *track) endPicture() {
	t.walk.End(t.onUnit)
	if t.begun && t.coded {
		t.emit(t.at, t.key, t.walk.Taken()-t.from, t.lastByte)
		if b := t.whole.Take(); b != nil && t.key {
			t.d.Keys.Key(t.codec, b, t.lastByte)
		}
	}
	t.whole.Drop()
	t.begun, t.coded, t.key = false, false, false
	t.walk.Reset()
	t.unitAt = 0
	t.unitTime = t.d.arrival
}
