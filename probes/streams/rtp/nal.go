package rtp

import "snag/probes/streams/codec"

// h264 reads RFC 6184: single units, STAP (5.7.1), FU (5.8). MTAPs (interleaved
// mode, which nothing in use sends) are counted by size only.
func h264(f *Format, b []byte, h *heads) {
	if len(b) < 2 {
		return
	}
	switch kind := b[0] & 31; kind {
	case 24:
		units(f, b[1:], 0, h)
	case 25: // STAP-B: a decoding order number first
		if len(b) > 3 {
			units(f, b[3:], 0, h)
		}
	case 26, 27:
		h.size = len(b)
	case 28, 29:
		head := 2
		if kind == 29 { // FU-B: a decoding order number
			head = 4
		}
		if len(b) <= head {
			return
		}
		first := b[1]&0x80 != 0
		unit := [2]byte{b[0]&0xe0 | b[1]&31, b[head]}
		h.size = len(b) - head
		fragment(f, unit[:], first, 1, h)
	default:
		h.nal(f, b)
	}
}

// hevc reads RFC 7798: single units (4.4.1), AP (4.4.2), FU (4.4.3).
func hevc(f *Format, b []byte, h *heads) {
	if len(b) < 3 {
		return
	}
	donl := 0
	if f.donl {
		donl = 2
	}
	switch b[0] >> 1 & 63 {
	case 48:
		units(f, b[2:], donl, h)
	case 49:
		first := b[2]&0x80 != 0
		head := 3
		if first {
			head += donl
		}
		if len(b) <= head {
			return
		}
		unit := [3]byte{b[0]&0x81 | b[2]&63<<1, b[1], b[head]}
		h.size = len(b) - head
		fragment(f, unit[:], first, 2, h)
	case 50: // PACI (4.4.4): the units inside follow its extension
		h.size = len(b)
	default:
		if len(b) > 2+donl && donl > 0 {
			// The order number stands between the header and the rest.
			unit := [3]byte{b[0], b[1], b[4]}
			i := codec.NAL(f.Codec, unit[:])
			h.info(i)
			h.size = len(b) - donl
			return
		}
		h.nal(f, b)
	}
}

// units walks over an aggregation packet: 16-bit sizes, each before its unit. In
// HEVC with order numbers the first is of two bytes, the others of one.
func units(f *Format, b []byte, don int, h *heads) {
	for len(b) > don+2 {
		b = b[don:]
		if don > 0 {
			don = 1
		}
		n := int(b[0])<<8 | int(b[1])
		b = b[2:]
		if n == 0 || n > len(b) {
			return
		}
		h.nal(f, b[:n])
		b = b[n:]
	}
}

// fragment is one of a unit's: unit is its header made again and one byte more,
// which is the slice header's only in the first fragment.
func fragment(f *Format, unit []byte, first bool, header int, h *heads) {
	if first {
		h.size += header
	} else {
		unit[header] = 0
	}
	h.info(codec.NAL(f.Codec, unit))
}

func (h *heads) nal(f *Format, b []byte) {
	h.size += len(b)
	i := codec.NAL(f.Codec, b)
	h.info(i)
	if i.SPS {
		f.sequence(b)
	}
}

func (h *heads) info(i codec.NALInfo) {
	h.coded = h.coded || i.Slice
	h.key = h.key || i.Key || i.Recovery
	h.begins = h.begins || i.Begins
}
