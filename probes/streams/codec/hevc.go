package codec

import "snag/probes/streams/stream"

// HEVCSPS reads a sequence parameter set (ITU-T H.265 7.3.2.2 and E.2.1), with its
// two-byte NAL header and its emulation-prevention bytes, without a start code.
// FPS is 0 when its VUI has no timing; some encoders put it into the VPS only.
func HEVCSPS(nal []byte) (stream.Params, error) {
	const what = "HEVC SPS"
	p := stream.Params{Kind: stream.Video, Codec: HEVC}
	if len(nal) < 4 || nal[0]>>1&63 != hevcSPS {
		return p, badf(what, "it is not an SPS")
	}
	var buf [MaxHead]byte
	r := bits{b: buf[:Unescape(buf[:], nal[2:])]}
	r.skip(4) // sps_video_parameter_set_id
	sublayers := int(r.u(3))
	r.skip(1)
	if sublayers > 6 {
		return p, badf(what, "%d sub-layers", sublayers+1)
	}
	profileTierLevel(&r, sublayers)
	r.ue() // sps_seq_parameter_set_id
	chroma := r.ue()
	if chroma > 3 {
		return p, badf(what, "chroma_format_idc %d", chroma)
	}
	separate := chroma == 3 && r.flag()
	w, h := uint64(r.ue()), uint64(r.ue())
	if r.flag() { // conformance_window_flag, 7.4.3.2.1
		ux, uy := uint64(1), uint64(1)
		if !separate && (chroma == 1 || chroma == 2) {
			ux = 2
		}
		if chroma == 1 {
			uy = 2
		}
		l, right, top, bottom := uint64(r.ue()), uint64(r.ue()), uint64(r.ue()), uint64(r.ue())
		w, h = cropped(w, ux*(l+right)), cropped(h, uy*(top+bottom))
	}
	if r.short {
		return p, bad(what, errShort)
	}
	if w == 0 || h == 0 || w > maxSide || h > maxSide {
		return p, badf(what, "a picture of %d×%d", w, h)
	}
	p.Width, p.Height = int(w), int(h)
	// What follows only leads to the frame rate: where it can't be read, the
	// picture's size still stands.
	if hevcToVUI(&r, sublayers) {
		p.FPS = hevcVUI(&r)
	}
	return p, nil
}

// profileTierLevel skips profile_tier_level(1, sublayers) (7.3.3).
func profileTierLevel(r *bits, sublayers int) {
	r.skip(88 + 8)
	var profile, level [8]bool
	for i := range sublayers {
		profile[i], level[i] = r.flag(), r.flag()
	}
	if sublayers > 0 {
		r.skip(2 * (8 - sublayers))
	}
	for i := range sublayers {
		if profile[i] {
			r.skip(88)
		}
		if level[i] {
			r.skip(8)
		}
	}
}

// hevcToVUI skips from bit_depth_luma_minus8 to the VUI and reports whether there
// is one.
func hevcToVUI(r *bits, sublayers int) bool {
	r.ue()
	r.ue()
	pocBits := int(r.ue()) + 4
	if pocBits > 16 {
		return false
	}
	from := sublayers
	if r.flag() { // sps_sub_layer_ordering_info_present_flag
		from = 0
	}
	for i := from; i <= sublayers; i++ {
		r.ue()
		r.ue()
		r.ue()
	}
	for range 6 { // block and transform sizes and depths
		r.ue()
	}
	if r.flag() { // scaling_list_enabled
		if r.flag() { // sps_scaling_list_data_present
			hevcScalingLists(r)
		}
	}
	r.skip(2)     // amp, sample_adaptive_offset
	if r.flag() { // pcm_enabled
		r.skip(8)
		r.ue()
		r.ue()
		r.skip(1)
	}
	if !shortTermSets(r) {
		return false
	}
	if r.flag() { // long_term_ref_pics_present
		n := r.ue()
		if n > 32 {
			return false
		}
		r.skip(int(n) * (pocBits + 1))
	}
	r.skip(2) // temporal_mvp, strong_intra_smoothing
	return r.flag() && !r.short
}

// hevcScalingLists skips scaling_list_data (7.3.4).
func hevcScalingLists(r *bits) {
	for size := range 4 {
		step := 1
		if size == 3 {
			step = 3
		}
		for m := 0; m < 6; m += step {
			if !r.flag() {
				r.ue()
				continue
			}
			if size > 1 {
				r.se()
			}
			for range min(64, 1<<(4+size<<1)) {
				r.se()
			}
			if r.short {
				return
			}
		}
	}
}

// shortTermSets skips the st_ref_pic_set structures (7.3.7). A set may be told as
// a difference to the one before: how many pictures that had must be known.
func shortTermSets(r *bits) bool {
	n := int(r.ue())
	if n > 64 {
		return false
	}
	pictures := 0 // of the set before
	for i := range n {
		if r.short {
			return false
		}
		if i > 0 && r.flag() { // inter_ref_pic_set_prediction_flag
			r.skip(1)
			r.ue()
			now := 0
			for j := 0; j <= pictures; j++ {
				used := r.flag()
				if used || r.flag() {
					now++
				}
			}
			pictures = now
			continue
		}
		negative, positive := int(r.ue()), int(r.ue())
		if negative > 16 || positive > 16 {
			return false
		}
		pictures = negative + positive
		for range pictures {
			r.ue()
			r.skip(1)
		}
	}
	return !r.short
}

// hevcVUI reads the frame rate (E.2.1): a tick is a picture.
func hevcVUI(r *bits) float64 {
	vuiHead(r)
	r.skip(3)     // neutral_chroma, field_seq, frame_field_info
	if r.flag() { // default_display_window
		for range 4 {
			r.ue()
		}
	}
	return timing(r, 1)
}

// HVCC reads an HEVCDecoderConfigurationRecord (ISO/IEC 14496-15 8.3.3.1): what its
// first SPS says, and how many bytes the lengths before the NAL units have.
func HVCC(b []byte) (p stream.Params, lengthSize int, err error) {
	p = stream.Params{Kind: stream.Video, Codec: HEVC}
	if len(b) < 23 {
		return p, 0, bad("hvcC", errShort)
	}
	if b[0] > 1 { // 0 was written by encoders before the standard was final
		return p, 0, badf("hvcC", "version %d", b[0])
	}
	lengthSize = int(b[21]&3) + 1
	rest := b[23:]
	for range b[22] {
		if len(rest) < 3 {
			return p, lengthSize, bad("hvcC", errShort)
		}
		kind, n := rest[0]&63, int(rest[1])<<8|int(rest[2])
		rest = rest[3:]
		for range n {
			if len(rest) < 2 {
				return p, lengthSize, bad("hvcC", errShort)
			}
			size := int(rest[0])<<8 | int(rest[1])
			if size > len(rest)-2 {
				return p, lengthSize, bad("hvcC", errShort)
			}
			if kind == hevcSPS {
				p, err = HEVCSPS(rest[2 : 2+size])
				return p, lengthSize, err
			}
			rest = rest[2+size:]
		}
	}
	return p, lengthSize, nil // parameter sets come in the stream (hev1)
}
