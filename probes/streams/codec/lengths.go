package codec

// NextNAL cuts the first unit from units with lengths before them (ISO/IEC
// 14496-15 4.3: avcC, hvcC), lengthSize bytes each. A unit whose length goes
// beyond b is given as far as it goes, whole false: b may be the head of a frame.
// At the end, or when nothing more can be read, nal is nil.
func NextNAL(b []byte, lengthSize int) (nal, rest []byte, whole bool) {
	if lengthSize < 1 || lengthSize > 4 || len(b) <= lengthSize {
		return nil, nil, false
	}
	var n uint64
	for _, c := range b[:lengthSize] {
		n = n<<8 | uint64(c)
	}
	b = b[lengthSize:]
	if n > uint64(len(b)) {
		return b, nil, false
	}
	return b[:n:n], b[n:], true
}

// Lengths walks over units with lengths before them that come in pieces, and
// keeps of each only its first bytes.
type Lengths struct {
	Size  int // bytes of a length, 1 to 4
	left  uint64
	want  int // bytes of the length yet to come
	total uint64
	in    bool
	head  head
}

// Feed takes the next bytes. For each unit that ends in them, each is called with
// the unit's head (at most HeadBytes, only good during the call) and its size in bytes.
func (w *Lengths) Feed(b []byte, each func(head []byte, size int)) {
	if w.Size < 1 || w.Size > 4 {
		return
	}
	for len(b) > 0 {
		if !w.in {
			w.left = w.left<<8 | uint64(b[0])
			w.want++
			b = b[1:]
			if w.want < w.Size {
				continue
			}
			w.in, w.total = true, w.left
			w.head.n = 0
		}
		n := int(min(w.left, uint64(len(b))))
		w.head.add(b[:n])
		b = b[n:]
		if w.left -= uint64(n); w.left == 0 {
			w.in, w.want = false, 0
			if w.total > 0 {
				each(w.head.bytes(), int(w.total))
			}
		}
	}
}
