package codec

// Types of NAL units: ITU-T H.264 table 7-1, H.265 table 7-1.
const (
	h264Slice = 1
	h264IDR   = 5
	h264SEI   = 6
	h264SPS   = 7
	h264PPS   = 8
	h264AUD   = 9

	hevcSPS       = 33
	hevcPPS       = 34
	hevcVPS       = 32
	hevcAUD       = 35
	hevcPrefixSEI = 39
)

// NALInfo is what the first bytes of a NAL unit tell.
type NALInfo struct {
	Type      uint8
	Slice     bool // of a coded picture
	First     bool // the picture's first slice
	Key       bool // of a picture that a decoder can begin with: H.264 IDR, HEVC 16–21 (IRAP)
	AUD       bool // access unit delimiter: nothing of the picture before comes after it
	SPS       bool
	Parameter bool // VPS, SPS, PPS
	Recovery  bool // H.264: SEI recovery point with nothing to wait for, open GOP's key picture
	// Begins reports that a picture whose slices came before is over (H.264 7.4.1.2.3,
	// HEVC 7.4.2.4.4): a first slice, a delimiter, parameter sets, SEI before slices.
	Begins bool
}

// NAL reads the head of a unit, without start code or length, of codec H264 or
// HEVC; eight bytes are enough but for Recovery, which wants those of the SEI.
// Other codecs have no NAL units and give nothing.
func NAL(codec string, b []byte) NALInfo {
	switch codec {
	case H264:
		return h264NAL(b)
	case HEVC:
		return hevcNAL(b)
	}
	return NALInfo{}
}

func h264NAL(b []byte) NALInfo {
	if len(b) == 0 {
		return NALInfo{}
	}
	i := NALInfo{Type: b[0] & 31}
	switch i.Type {
	case h264Slice, 2, h264IDR: // 2 is data partition A, the only one with a slice header
		i.Slice, i.Key = true, i.Type == h264IDR
		i.First = len(b) > 1 && b[1]&0x80 != 0 // first_mb_in_slice is ue(v) 0
		i.Begins = i.First
	case 3, 4:
		i.Slice = true
	case h264SEI:
		i.Begins, i.Recovery = true, recoveryPoint(b[1:])
	case h264SPS:
		i.Begins, i.SPS, i.Parameter = true, true, true
	case h264PPS:
		i.Begins, i.Parameter = true, true
	case h264AUD:
		i.Begins, i.AUD = true, true
	case 14, 15, 16, 17, 18:
		i.Begins = true
	}
	return i
}

func hevcNAL(b []byte) NALInfo {
	if len(b) < 2 {
		return NALInfo{}
	}
	i := NALInfo{Type: b[0] >> 1 & 63}
	if b[0]&1 != 0 || b[1]>>3 != 0 { // nuh_layer_id: only the base layer is the picture
		return i
	}
	switch t := i.Type; {
	case t < 32:
		i.Slice, i.Key = true, t >= 16 && t <= 21
		i.First = len(b) > 2 && b[2]&0x80 != 0 // first_slice_segment_in_pic_flag
		i.Begins = i.First
	case t == hevcVPS, t == hevcSPS, t == hevcPPS:
		i.Begins, i.SPS, i.Parameter = true, t == hevcSPS, true
	case t == hevcAUD:
		i.Begins, i.AUD = true, true
	case t == hevcPrefixSEI, t >= 41 && t <= 44, t >= 48 && t <= 55:
		i.Begins = true
	}
	return i
}

// recoveryPoint looks for SEI payload 6 (H.264 D.1.8) with recovery_frame_cnt 0
// among the messages of an SEI unit, without its NAL header, as far as b goes.
func recoveryPoint(b []byte) bool {
	for len(b) > 2 {
		var kind, size int
		for part := range 2 {
			v := 0
			for len(b) > 0 && b[0] == 0xff && v < MaxHead {
				v, b = v+255, b[1:]
			}
			if len(b) == 0 {
				return false
			}
			v, b = v+int(b[0]), b[1:]
			if part == 0 {
				kind = v
			} else {
				size = v
			}
		}
		if size > len(b) {
			return false
		}
		if kind == 6 && size > 0 {
			return b[0]&0x80 != 0 // ue(v) 0
		}
		b = b[size:]
	}
	return false
}
