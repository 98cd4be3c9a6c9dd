package codec

import "snag/probes/streams/stream"

// VP9C reads a VPCodecConfigurationRecord (VP9 in ISOBMFF): it says that the
// track is VP9, not its size, which is in each key frame.
func VP9C(b []byte) (stream.Params, error) {
	p := stream.Params{Kind: stream.Video, Codec: VP9}
	if len(b) < 8 {
		return p, bad("vpcC", errShort)
	}
	// A full box: version and flags, then the profile.
	if b[0] > 1 || b[4] > 3 {
		return p, badf("vpcC", "version %d, profile %d", b[0], b[4])
	}
	return p, nil
}

// VP9Picture reads the uncompressed header of a frame (VP9 6.2); a dozen bytes
// are enough.
func VP9Picture(b []byte) Picture {
	r := bits{b: b[:min(len(b), 64)]}
	var p Picture
	if r.u(2) != 2 {
		return p
	}
	profile := r.u(1) | r.u(1)<<1
	if profile == 3 {
		r.skip(1)
	}
	p.Coded = true
	if r.flag() { // show_existing_frame
		return p
	}
	if r.flag() { // frame_type: not a key frame
		return p
	}
	r.skip(2)
	if r.u(24) != 0x498342 || r.short {
		return Picture{}
	}
	p.Key = true
	if profile >= 2 {
		r.skip(1)
	}
	if r.u(3) != 7 { // color_space; 7 is sRGB
		r.skip(1)
		if profile&1 == 1 {
			r.skip(3)
		}
	} else if profile&1 == 1 {
		r.skip(1)
	}
	w, h := int(r.u(16))+1, int(r.u(16))+1
	if !r.short {
		p.Params = stream.Params{Kind: stream.Video, Codec: VP9, Width: w, Height: h}
		p.Told = true
	}
	return p
}
