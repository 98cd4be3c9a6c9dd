package rtmp

import (
	"errors"

	"snag/probes/streams/codec"
	"snag/probes/streams/flv"
	"snag/probes/streams/stream"
)

var errOther = errors.New("a codec whose sequence header is not read")

// config reads a sequence header, which FLV has in the form that MP4 has it in.
func config(tag flv.Tag) (p stream.Params, err error) {
	switch tag.Codec {
	case codec.H264:
		p, _, err = codec.AVCC(tag.Body)
	case codec.HEVC:
		p, _, err = codec.HVCC(tag.Body)
	case codec.AV1:
		p, err = codec.AV1C(tag.Body)
	case codec.VP9:
		p, err = codec.VP9C(tag.Body)
	case codec.Opus:
		p, err = codec.OpusHead(tag.Body)
	case codec.AAC:
		var a codec.Audio
		a, err = codec.AACConfig(tag.Body)
		p = a.Params
	default:
		err = errOther
	}
	return p, err
}
