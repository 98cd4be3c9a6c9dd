package ps

// framer cuts packets with 16-bit lengths before them (RFC 4571 2) from what comes
// in any pieces. Its buffer grows to the longest packet, 64 KiB at the most.
type framer struct {
	buf        []byte
	start, end int
	asked      int
}

func (f *framer) room() []byte {
	if f.start > 0 {
		f.end = copy(f.buf, f.buf[f.start:f.end])
		f.start = 0
	}
	if f.end == len(f.buf) {
		grown := make([]byte, min(max(2*len(f.buf), 8<<10), 2+1<<16))
		copy(grown, f.buf)
		f.buf = grown
	}
	f.asked = len(f.buf) - f.end
	return f.buf[f.end:]
}

func (f *framer) filled(n int) { f.end += n }

// size is how much the last read could have brought.
func (f *framer) size() int { return f.asked }

// next is the next whole packet, good until room; nil when there is none.
func (f *framer) next() []byte {
	for f.end-f.start >= 2 {
		n := int(f.buf[f.start])<<8 | int(f.buf[f.start+1])
		if f.end-f.start < 2+n {
			return nil
		}
		b := f.buf[f.start+2 : f.start+2+n]
		f.start += 2 + n
		if n > 0 {
			return b
		}
	}
	return nil
}
