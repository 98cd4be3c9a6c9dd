package passive

import (
	"snag/internal/amf"
	"snag/internal/rtmp"
	"snag/probes/streams/codec"
	"snag/probes/streams/flv"
	"snag/probes/streams/stream"
)

// media turns the messages of one direction into frames.
type media struct {
	tracks flv.Tracks
	clocks clocks
	last   [2]flv.Tag // of each kind, without its body
	over   [2]int     // bytes of the last frame's message that were not elementary stream
}

// frame reads an audio or video message. ok is false for what is no frame; params
// are given where they changed.
func (d *media) frame(at int64, m *rtmp.Message) (f stream.Frame, p stream.Params, changed, ok bool) {
	kind := stream.Video
	read := flv.Video
	if m.Type == rtmp.TypeAudio {
		kind, read = stream.Audio, flv.Audio
	}
	dts := d.clocks.dts(int(kind), at, m.Timestamp, m.Relative)
	if m.Cut && len(m.Head) < 5 {
		// The capture has no head of it. Its size and time are known, and that it is
		// like the one before; a picture to begin with is not claimed.
		t := d.last[kind]
		f = stream.Frame{Kind: kind, Arrival: at, DTS: dts, PTS: dts + t.Offset, Size: int(m.Length) - d.over[kind]}
		return f, p, false, t.Frame && f.Size > 0
	}
	t, ok := read(m.Head, int(m.Length))
	if !ok {
		return f, p, false, false
	}
	if t.Config {
		if c, ok := config(t); ok && len(m.Head) == int(m.Length) {
			d.tracks.Config(c)
		}
	}
	p, changed = d.tracks.Changed(t)
	if !t.Frame || t.Track != 0 {
		return f, p, changed, false
	}
	mark := t.Mark()
	if m.Cut {
		mark = 0
	}
	t.Body = nil
	d.last[kind], d.over[kind] = t, int(m.Length)-t.Size
	return stream.Frame{
		Kind: t.Kind, Key: t.Key, Arrival: at, DTS: dts, PTS: dts + t.Offset, Size: t.Size, Mark: mark,
	}, p, changed, true
}

// config reads a sequence header.
func config(t flv.Tag) (p stream.Params, ok bool) {
	var err error
	switch t.Codec {
	case codec.H264:
		p, _, err = codec.AVCC(t.Body)
	case codec.HEVC:
		p, _, err = codec.HVCC(t.Body)
	case codec.AV1:
		p, err = codec.AV1C(t.Body)
	case codec.VP9:
		p, err = codec.VP9C(t.Body)
	case codec.AAC:
		var a codec.Audio
		a, err = codec.AACConfig(t.Body)
		p = a.Params
	case codec.Opus:
		p, err = codec.OpusHead(t.Body)
	default:
		return p, false
	}
	return p, err == nil
}

// data reads metadata.
func (d *media) data(m *rtmp.Message) {
	b := m.Head
	if m.Type == rtmp.TypeDataAMF3 && len(b) > 0 {
		b = b[1:] // a format byte, then AMF0 (RTMP 1.0, 7.1.2)
	}
	values, err := amf.Decode(b)
	if err != nil && len(values) < 2 {
		return
	}
	if video, audio, ok := flv.Meta(values); ok {
		d.tracks.Meta(video, audio)
	}
}
