package rtp

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

var startCode = []byte{0, 0, 0, 1}

// unpack adds the NAL units of a payload to a byte stream (annex B), and tells whether it can. H.264
// in interleaved mode (MTAP) and HEVC with PACI it can't.
func unpack(f *Format, b []byte, to *stream.Whole) bool {
	if f.Codec == codec.HEVC {
		return unpackHEVC(f, b, to)
	}
	if len(b) == 0 {
		return true // padding
	}
	switch kind := b[0] & 31; kind {
	case 24:
		return unpackUnits(b[1:], 0, to)
	case 25: // STAP-B: a decoding order number first
		return len(b) > 3 && unpackUnits(b[3:], 0, to)
	case 26, 27:
		return false
	case 28, 29:
		head := 2
		if kind == 29 {
			head = 4
		}
		if len(b) <= head {
			return false
		}
		if b[1]&0x80 != 0 {
			to.Add(startCode, []byte{b[0]&0xe0 | b[1]&31})
		}
		to.Add(b[head:])
		return true
	}
	to.Add(startCode, b)
	return true
}

func unpackHEVC(f *Format, b []byte, to *stream.Whole) bool {
	donl := 0
	if f.donl {
		donl = 2
	}
	if len(b) == 0 {
		return true
	}
	if len(b) < 3+donl {
		return false
	}
	switch b[0] >> 1 & 63 {
	case 48:
		return unpackUnits(b[2:], donl, to)
	case 49:
		head := 3
		if b[2]&0x80 != 0 {
			if head += donl; len(b) <= head {
				return false
			}
			to.Add(startCode, []byte{b[0]&0x81 | b[2]&63<<1, b[1]})
		}
		to.Add(b[head:])
	case 50:
		return false
	default:
		to.Add(startCode, b[:2], b[2+donl:])
	}
	return true
}

// unpackUnits takes those of an aggregation packet, as units reads them.
func unpackUnits(b []byte, don int, to *stream.Whole) bool {
	for len(b) > don+2 {
		b = b[don:]
		don = min(don, 1)
		n := int(b[0])<<8 | int(b[1])
		if b = b[2:]; n == 0 || n > len(b) {
			return false
		}
		to.Add(startCode, b[:n])
		b = b[n:]
	}
	return true
}
