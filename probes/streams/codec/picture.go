package codec

import (
	"bytes"

	"snag/probes/streams/stream"
)

// Picture is what a whole frame, or its beginning, tells.
type Picture struct {
	Key    bool
	Coded  bool // there is a slice in it: parameter sets alone are no frame
	Params stream.Params
	Told   bool // Params were in it
}

// LengthPicture looks through a frame of units with lengths before them (FLV,
// MP4). It may be cut short.
func LengthPicture(codec string, b []byte, lengthSize int) Picture {
	var p Picture
	for {
		nal, rest, _ := NextNAL(b, lengthSize)
		if nal == nil {
			return p
		}
		p.add(codec, nal)
		b = rest
	}
}

// AnnexBPicture looks through a frame with start codes. It may be cut short.
func AnnexBPicture(codec string, b []byte) Picture {
	var p Picture
	i := bytes.Index(b, startCode)
	for i >= 0 {
		b = b[i+3:]
		if i = bytes.Index(b, startCode); i < 0 {
			p.add(codec, b)
		} else {
			p.add(codec, b[:i])
		}
	}
	return p
}

func (p *Picture) add(codec string, nal []byte) {
	i := NAL(codec, nal)
	p.Coded = p.Coded || i.Slice
	p.Key = p.Key || i.Key || i.Recovery
	if i.SPS && !p.Told {
		if told, err := SPS(codec, nal); err == nil {
			p.Params, p.Told = told, true
		}
	}
}

// SPS reads the sequence parameter set of codec H264 or HEVC.
func SPS(codec string, nal []byte) (stream.Params, error) {
	switch codec {
	case H264:
		return H264SPS(nal)
	case HEVC:
		return HEVCSPS(nal)
	}
	return stream.Params{}, badf("SPS", "%q has none", codec)
}
