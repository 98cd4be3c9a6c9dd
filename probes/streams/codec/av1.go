package codec

import "snag/probes/streams/stream"

// Types of AV1's open bitstream units (AV1 6.2.2).
const (
	OBUSequence   = 1
	OBUDelimiter  = 2
	OBUFrameHead  = 3
	OBUTileGroup  = 4
	OBUFrame      = 6
	maxOBUOptions = 32 // operating points
)

// NextOBU cuts the first unit from b in the low-overhead format (AV1 5.2); one
// without a size goes to the end. body is what follows its header, whole false
// when b ends before it; ok false at the end or when b is no such unit.
func NextOBU(b []byte) (kind uint8, body, rest []byte, whole, ok bool) {
	if len(b) == 0 || b[0]&0x80 != 0 {
		return 0, nil, nil, false, false
	}
	kind, sized := b[0]>>3&15, b[0]&2 != 0
	i := 1
	if b[0]&4 != 0 {
		i = 2
	}
	if i > len(b) {
		return 0, nil, nil, false, false
	}
	b = b[i:]
	if !sized {
		return kind, b, nil, true, true
	}
	var n uint64
	for j := 0; ; j++ { // leb128, 4.10.5
		if j == len(b) || j == 8 {
			return 0, nil, nil, false, false
		}
		n |= uint64(b[j]&127) << (7 * j)
		if b[j] < 128 {
			b = b[j+1:]
			break
		}
	}
	if n > uint64(len(b)) {
		return kind, b, nil, false, true
	}
	return kind, b[:n:n], b[n:], true, true
}

// AV1Picture looks through a temporal unit, which may be cut short. Key is of a
// key frame that is shown (5.9.2), where a decoder can begin.
func AV1Picture(b []byte) Picture {
	var p Picture
	for {
		kind, body, rest, _, ok := NextOBU(b)
		if !ok {
			return p
		}
		switch kind {
		case OBUSequence:
			if told, err := AV1SequenceHeader(body); err == nil && !p.Told {
				p.Params, p.Told = told, true
			}
		case OBUFrame, OBUFrameHead:
			p.Coded = true
			// show_existing_frame, frame_type (2 bits), show_frame
			if len(body) > 0 && body[0]>>4 == 1 {
				p.Key = true
			}
		}
		b = rest
	}
}

// AV1C reads an AV1CodecConfigurationRecord (AV1 in ISOBMFF 2.3): what the
// sequence header in it says, if there is one.
func AV1C(b []byte) (stream.Params, error) {
	p := stream.Params{Kind: stream.Video, Codec: AV1}
	if len(b) < 4 || b[0] != 0x81 {
		return p, badf("av1C", "it is not a version 1 record")
	}
	if q := AV1Picture(b[4:]); q.Told {
		return q.Params, nil
	}
	return p, nil
}

// AV1SequenceHeader reads the body of a sequence header unit (AV1 5.5), without
// the unit's own header. FPS is 0 when pictures are not told to be equally long.
func AV1SequenceHeader(b []byte) (stream.Params, error) {
	const what = "AV1 sequence header"
	p := stream.Params{Kind: stream.Video, Codec: AV1}
	r := bits{b: b[:min(len(b), MaxHead)]}
	r.skip(4)     // seq_profile, still_picture
	if r.flag() { // reduced_still_picture_header
		r.skip(5)
	} else {
		p.FPS = av1Timing(&r)
	}
	wide, high := int(r.u(4))+1, int(r.u(4))+1
	w, h := r.u(wide), r.u(high)
	if r.short {
		return p, bad(what, errShort)
	}
	p.Width, p.Height = int(w)+1, int(h)+1
	return p, nil
}

// av1Timing reads timing_info and the operating points.
func av1Timing(r *bits) (fps float64) {
	model, delay := false, 0
	if r.flag() { // timing_info_present_flag
		units, scale := r.u(32), r.u(32)
		if r.flag() { // equal_picture_interval
			ticks := uint64(uvlc(r)) + 1
			if units > 0 && scale > 0 {
				fps = float64(scale) / (float64(units) * float64(ticks))
			}
		}
		if model = r.flag(); model { // decoder_model_info
			delay = int(r.u(5)) + 1
			r.skip(32 + 5 + 5)
		}
	}
	display := r.flag()
	for range min(int(r.u(5))+1, maxOBUOptions) {
		r.skip(12)
		if r.u(5) > 7 {
			r.skip(1)
		}
		if model && r.flag() {
			r.skip(2*delay + 1)
		}
		if display && r.flag() {
			r.skip(4)
		}
	}
	if fps > 1000 {
		return 0
	}
	return fps
}

// uvlc is AV1 4.10.3.
func uvlc(r *bits) uint32 {
	zeros := 0
	for !r.flag() {
		if zeros++; r.short || zeros > 31 {
			return 1<<32 - 1
		}
	}
	return r.u(zeros) + 1<<uint(zeros) - 1
}
