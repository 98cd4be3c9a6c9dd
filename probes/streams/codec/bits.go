package codec

// bits reads from the most significant bit on. Past the end it gives zeros and
// remembers it, so that a parser asks once, at its end.
type bits struct {
	b     []byte
	pos   int // in bits
	short bool
}

// u reads n bits, n <= 32.
func (r *bits) u(n int) uint32 {
	if r.pos+n > 8*len(r.b) {
		r.short = true
		r.pos = 8 * len(r.b)
		return 0
	}
	var v uint64
	first, last := r.pos>>3, (r.pos+n+7)>>3
	for _, c := range r.b[first:last] {
		v = v<<8 | uint64(c)
	}
	v >>= uint(8*last - r.pos - n)
	r.pos += n
	return uint32(v & (1<<uint(n) - 1))
}

func (r *bits) flag() bool { return r.u(1) == 1 }

func (r *bits) skip(n int) {
	if n < 0 || r.pos+n > 8*len(r.b) {
		r.short = true
		r.pos = 8 * len(r.b)
		return
	}
	r.pos += n
}

// left is how many bits there are yet.
func (r *bits) left() int { return 8*len(r.b) - r.pos }

// ue reads an unsigned Exp-Golomb code (ITU-T H.264 9.1), at most 32 bits of it.
func (r *bits) ue() uint32 {
	zeros := 0
	for !r.flag() {
		zeros++
		if r.short || zeros > 31 {
			r.short = true
			return 0
		}
	}
	if zeros == 0 {
		return 0
	}
	return 1<<uint(zeros) - 1 + r.u(zeros)
}

// se reads a signed Exp-Golomb code (9.1.1).
func (r *bits) se() int32 {
	k := r.ue()
	if k&1 == 1 {
		return int32(k/2 + 1)
	}
	return -int32(k / 2)
}

// Unescape copies a NAL unit without its emulation-prevention bytes (00 00 03,
// ITU-T H.264 7.4.1) as far as dst goes, and returns how much it wrote.
func Unescape(dst, nal []byte) int {
	n, zeros := 0, 0
	for _, c := range nal {
		if n == len(dst) {
			break
		}
		if zeros >= 2 && c == 3 {
			zeros = 0
			continue
		}
		if c == 0 {
			zeros++
		} else {
			zeros = 0
		}
		dst[n] = c
		n++
	}
	return n
}
