package rtp

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// vp8 reads the payload descriptor of RFC 7741 4.2 and the frame tag of RFC 6386 9.1.
func vp8(f *Format, b []byte, h *heads) {
	n := 1
	if len(b) < 2 {
		return
	}
	begins := b[0]&0x10 != 0 && b[0]&7 == 0 // S, first partition
	if b[0]&0x80 != 0 {
		x := b[1]
		n++
		if x&0x80 != 0 && n < len(b) { // I: the picture's number, 7 or 15 bits
			if b[n]&0x80 != 0 {
				n++
			}
			n++
		}
		if x&0x40 != 0 { // L
			n++
		}
		if x&0x30 != 0 { // T, K
			n++
		}
	}
	if n >= len(b) {
		return
	}
	h.coded, h.begins, h.size = true, begins, len(b)-n
	b = b[n:]
	if !begins || b[0]&1 != 0 {
		return
	}
	h.key = true
	if len(b) >= 10 && b[3] == 0x9d && b[4] == 1 && b[5] == 0x2a {
		f.tell(stream.Params{
			Width:  int(b[6]) | int(b[7]&0x3f)<<8,
			Height: int(b[8]) | int(b[9]&0x3f)<<8,
		})
	}
}

// vp9 reads the payload descriptor of RFC 9628 4.2 as far as it tells a key picture:
// not predicted from another (P 0), begin of a frame (B). ffmpeg never sets P
// (libavformat/rtpenc_vp9.c), so the frame's own header decides where it can be read.
func vp9(f *Format, b []byte, h *heads) {
	if len(b) < 2 {
		return
	}
	flags := b[0]
	n := 1
	if flags&0x80 != 0 { // I
		if b[n]&0x80 != 0 {
			n++
		}
		n++
	}
	var layer byte
	if flags&0x20 != 0 && n < len(b) { // L
		layer = b[n] >> 1 & 7
		n++
		if flags&0x10 == 0 { // not in flexible mode: TL0PICIDX
			n++
		}
	}
	if flags&0x50 == 0x50 { // F and P: up to 3 reference indices, N tells of the next
		for i := 0; i < 3 && n < len(b); i++ {
			n++
			if b[n-1]&1 == 0 {
				break
			}
		}
	}
	if flags&0x02 != 0 { // V: the scalability structure (4.2.1)
		n = scalability(f, b, n)
	}
	if n >= len(b) {
		return
	}
	h.coded, h.size = true, len(b)-n
	h.begins = flags&0x08 != 0 && layer == 0
	if h.key = flags&0x48 == 0x08 && layer == 0; !h.key {
		return
	}
	if p := codec.VP9Picture(b[n:]); p.Coded {
		if h.key = p.Key; p.Told {
			f.tell(stream.Params{Width: p.Params.Width, Height: p.Params.Height})
		}
	}
}

// scalability reads over the structure at n and tells the size of its highest layer.
func scalability(f *Format, b []byte, n int) int {
	if n >= len(b) {
		return n
	}
	s := b[n]
	n++
	if s&0x10 != 0 { // Y: sizes
		for range int(s>>5) + 1 {
			if n+4 > len(b) {
				return len(b)
			}
			f.tell(stream.Params{Width: int(b[n])<<8 | int(b[n+1]), Height: int(b[n+2])<<8 | int(b[n+3])})
			n += 4
		}
	}
	if s&0x08 != 0 && n < len(b) { // G: pictures of a group
		pictures := int(b[n])
		n++
		for range pictures {
			if n >= len(b) {
				return len(b)
			}
			n += 1 + int(b[n]>>2&3)
		}
	}
	return n
}

// av1 reads the aggregation header of the AV1 RTP specification (4.4): N begins a
// coded video sequence, so a key picture; the sequence header is then the first OBU.
func av1(f *Format, b []byte, h *heads) {
	if len(b) < 2 {
		return
	}
	z, w, first := b[0]&0x80 != 0, b[0]>>4&3, b[0]&0x08 != 0
	h.coded, h.key, h.begins, h.size = true, first, !z, len(b)-1
	if !first || z {
		return
	}
	obu := b[1:]
	if w != 1 { // its length stands before it, LEB128
		n, at := leb128(obu)
		if at == 0 || n > len(obu)-at {
			return
		}
		obu = obu[at : at+n]
	}
	if kind, body, _, _, ok := codec.NextOBU(obu); ok && kind == 1 {
		f.sequence(body)
	}
}

// leb128 reads up to three bytes: 2 MiB are more than a packet; at is 0 when there
// is no end.
func leb128(b []byte) (v, at int) {
	for i := 0; i < 3 && i < len(b); i++ {
		v |= int(b[i]&0x7f) << (7 * i)
		if b[i]&0x80 == 0 {
			return v, i + 1
		}
	}
	return 0, 0
}
