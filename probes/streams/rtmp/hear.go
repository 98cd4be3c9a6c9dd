package rtmp

import (
	"snag/internal/rtmp"
	"snag/probes/streams/codec"
	"snag/probes/streams/flv"
	"snag/probes/streams/stream"
)

// heard is the audio under way to whoever wants it.
type heard struct {
	second stream.Second
	framed codec.Framed // of AAC
	step   int64        // between the last two frames, ns: how long one is
	last   int64
}

// rememberAudio keeps what a sequence header says of AAC's frames.
func (d *Media) rememberAudio(tag flv.Tag) {
	if d.Sounds == nil {
		return
	}
	var framed codec.Framed
	if tag.Codec == codec.AAC {
		framed, _ = codec.ADTSOf(tag.Body) // what ADTS can't carry is not heard
	}
	if framed != d.heard.framed { // servers send the same again
		d.heard = heard{framed: framed}
	}
}

// hear hands on audio, of which m is a frame.
func (d *Media) hear(m *rtmp.Message, dts, at int64) {
	h := &d.heard
	if d.Sounds == nil {
		return
	}
	if step := dts - h.last; step > 0 && step < 1e9 {
		h.step = step
	}
	h.last = dts
	if !h.second.Begin(d.Sounds, dts) {
		return
	}
	tag, ok := flv.Audio(m.Whole, len(m.Whole))
	if !ok || !tag.Frame {
		h.second.Drop()
		return
	}
	switch tag.Codec {
	case codec.AAC:
		head, ok := h.framed.Header(len(tag.Body))
		if !ok {
			h.second.Drop()
			return
		}
		h.second.Add(head[:], tag.Body)
	case codec.MP3, codec.AC3, codec.EAC3, codec.PCMA, codec.PCMU:
		h.second.Add(tag.Body)
	default:
		h.second.Drop()
		return
	}
	h.second.End(d.Sounds, stream.Sound{Codec: tag.Codec, SampleRate: tag.SampleRate, Channels: tag.Channels}, dts, h.step, at)
}
