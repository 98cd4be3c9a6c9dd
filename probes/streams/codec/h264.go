package codec

import "snag/probes/streams/stream"

// H264SPS reads a sequence parameter set (ITU-T H.264 7.3.2.1.1 and E.1.1), with
// its NAL header and its emulation-prevention bytes, without a start code. FPS is
// of frames, both fields of an interlaced one counted once; 0 when there is no
// timing in it.
func H264SPS(nal []byte) (stream.Params, error) {
	p, _, err := h264(nal)
	return p, err
}

func h264(nal []byte) (p stream.Params, interlaced bool, err error) {
	p = stream.Params{Kind: stream.Video, Codec: H264}
	if len(nal) < 4 || nal[0]&31 != h264SPS {
		return p, false, badf("H.264 SPS", "it is not an SPS")
	}
	var buf [MaxHead]byte
	r := bits{b: buf[:Unescape(buf[:], nal[1:])]}
	profile := r.u(8)
	r.skip(16) // constraint flags, level_idc
	r.ue()     // seq_parameter_set_id
	chroma := uint32(1)
	separate := false
	switch profile {
	case 100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135:
		if chroma = r.ue(); chroma > 3 {
			return p, false, badf("H.264 SPS", "chroma_format_idc %d", chroma)
		}
		if chroma == 3 {
			separate = r.flag()
		}
		r.ue() // bit_depth_luma
		r.ue() // bit_depth_chroma
		r.skip(1)
		if r.flag() {
			h264ScalingLists(&r, chroma)
		}
	}
	r.ue() // log2_max_frame_num
	switch r.ue() {
	case 0:
		r.ue()
	case 1:
		r.skip(1)
		r.se()
		r.se()
		n := r.ue()
		if n > 255 {
			return p, false, badf("H.264 SPS", "%d reference frames in its order count cycle", n)
		}
		for range n {
			r.se()
		}
	}
	r.ue()    // max_num_ref_frames
	r.skip(1) // gaps_in_frame_num
	w, h := uint64(r.ue())+1, uint64(r.ue())+1
	fields := uint64(2)
	if r.flag() { // frame_mbs_only_flag
		fields = 1
	} else {
		r.skip(1)
	}
	r.skip(1) // direct_8x8_inference
	w, h = 16*w, 16*h*fields
	if r.flag() { // frame_cropping_flag, 7.4.2.1.1
		ux, uy := uint64(1), fields
		if chroma == 1 || chroma == 2 {
			ux = 2
		}
		if chroma == 1 && !separate {
			uy *= 2
		}
		l, right, top, bottom := uint64(r.ue()), uint64(r.ue()), uint64(r.ue()), uint64(r.ue())
		w, h = cropped(w, ux*(l+right)), cropped(h, uy*(top+bottom))
	}
	if r.short {
		return p, false, bad("H.264 SPS", errShort)
	}
	if w == 0 || h == 0 || w > maxSide || h > maxSide {
		return p, false, badf("H.264 SPS", "a picture of %d×%d", w, h)
	}
	p.Width, p.Height = int(w), int(h)
	if r.flag() { // vui_parameters_present_flag
		p.FPS = vuiTiming(&r, 2)
	}
	return p, fields == 2, nil
}

func cropped(side, crop uint64) uint64 {
	if crop >= side {
		return 0
	}
	return side - crop
}

// h264ScalingLists skips them (7.3.2.1.1.1).
func h264ScalingLists(r *bits, chroma uint32) {
	n := 8
	if chroma == 3 {
		n = 12
	}
	for i := range n {
		if !r.flag() {
			continue
		}
		size := 16
		if i >= 6 {
			size = 64
		}
		last, next := int32(8), int32(8)
		for range size {
			if next != 0 {
				next = (last + r.se()) & 255
			}
			if next != 0 {
				last = next
			}
			if r.short {
				return
			}
		}
	}
}

// vuiHead skips what H.264 (E.1.1) and HEVC (E.2.1) have alike: aspect ratio,
// overscan, video signal, chroma position.
func vuiHead(r *bits) {
	if r.flag() && r.u(8) == 255 { // aspect_ratio_idc, Extended_SAR
		r.skip(32)
	}
	if r.flag() { // overscan_info_present
		r.skip(1)
	}
	if r.flag() { // video_signal_type_present
		r.skip(4)
		if r.flag() {
			r.skip(24)
		}
	}
	if r.flag() { // chroma_loc_info_present
		r.ue()
		r.ue()
	}
}

// vuiTiming reads the frame rate of H.264's VUI; a tick is a field, so two of
// them (ticks) make a frame.
func vuiTiming(r *bits, ticks uint64) float64 {
	vuiHead(r)
	return timing(r, ticks)
}

// timing reads timing_info_present_flag and what follows.
func timing(r *bits, ticks uint64) float64 {
	if !r.flag() {
		return 0
	}
	units, scale := uint64(r.u(32)), uint64(r.u(32))
	if r.short || units == 0 || scale == 0 {
		return 0
	}
	fps := float64(scale) / float64(units*ticks)
	if fps > 1000 { // a tick of 1/90000 s with no fixed rate: says nothing
		return 0
	}
	return fps
}

// AVCC reads an AVCDecoderConfigurationRecord (ISO/IEC 14496-15 5.3.3.1): what its
// first SPS says, and how many bytes the lengths before the NAL units have.
func AVCC(b []byte) (p stream.Params, lengthSize int, err error) {
	p = stream.Params{Kind: stream.Video, Codec: H264}
	if len(b) < 8 || b[0] != 1 {
		return p, 0, badf("avcC", "it is not a version 1 record")
	}
	lengthSize = int(b[4]&3) + 1
	if b[5]&31 == 0 {
		return p, lengthSize, nil // parameter sets come in the stream (avc3)
	}
	n := int(b[6])<<8 | int(b[7])
	if n > len(b)-8 {
		return p, lengthSize, bad("avcC", errShort)
	}
	p, err = H264SPS(b[8 : 8+n])
	return p, lengthSize, err
}

// H264Fields reports whether an SPS allows fields as pictures of their own
// (frame_mbs_only_flag 0): two of them make a frame.
func H264Fields(nal []byte) bool {
	_, fields, err := h264(nal)
	return err == nil && fields
}
