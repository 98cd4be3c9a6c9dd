package rtmp

import (
	"snag/internal/rtmp"
	"snag/probes/streams/codec"
	"snag/probes/streams/flv"
	"snag/probes/streams/stream"
)

// sets are a sequence header's parameter sets as a byte stream, and how long a unit's length is.
type sets struct {
	bytes  []byte
	length int
}

// whole hands on a key picture that was kept whole.
func (d *Media) whole(m *rtmp.Message, at int64) {
	if m.Whole == nil || d.Keys == nil || d.sets.length == 0 {
		return
	}
	tag, ok := flv.Video(m.Whole, len(m.Whole))
	if !ok || !tag.Frame || !tag.Key || tag.Codec != codec.H264 && tag.Codec != codec.HEVC {
		return
	}
	if b := codec.ByteStream(d.sets.bytes, tag.Body, d.sets.length); b != nil {
		d.Keys.Key(tag.Codec, b, at)
	}
}

// remember keeps the parameter sets of a sequence header.
func (d *Media) remember(tag flv.Tag) {
	if tag.Kind == stream.Audio {
		d.rememberAudio(tag)
		return
	}
	if d.Keys == nil {
		return
	}
	d.sets = sets{}
	if b, length, err := codec.Sets(tag.Codec, tag.Body); err == nil {
		d.sets = sets{b, length}
	}
}
