package codec

import "bytes"

// HeadBytes is how much of each NAL unit a walker keeps for whoever looks at it:
// enough for real parameter sets, and for the SEI messages before a key picture.
const HeadBytes = 512

// head is the first bytes of a unit.
type head struct {
	b [HeadBytes]byte
	n int
}

func (h *head) add(b []byte) {
	if h.n < HeadBytes {
		h.n += copy(h.b[h.n:], b)
	}
}

func (h *head) bytes() []byte { return h.b[:h.n] }

// AnnexB walks over a byte stream with start codes (ITU-T H.264 annex B) that
// comes in any pieces, and keeps of each unit only its first bytes.
type AnnexB struct {
	head  head
	in    bool
	zeros int // at the end of what came: they may belong to a start code
	size  int // of the unit, its trailing zeros not yet counted
	taken int // bytes fed and looked at
	at    int // of them before the unit's start code
}

var startCode = []byte{0, 0, 1}

// Feed takes the next bytes. For each unit that a start code in them ends, each
// is called with its head (at most HeadBytes, only good during the call) and size
// in bytes, without the start code and trailing zeros.
func (w *AnnexB) Feed(b []byte, each func(head []byte, size int)) {
	// A start code that began in the piece before.
	for w.zeros > 0 && len(b) > 0 {
		if b[0] == 0 {
			w.zeros++
			w.taken++
			b = b[1:]
			continue
		}
		if b[0] == 1 && w.zeros >= 2 {
			w.begin(w.taken-w.zeros, each)
			w.taken++
			b = b[1:]
			break
		}
		w.zerosAreData()
	}
	for len(b) > 0 {
		i := bytes.Index(b, startCode)
		if i < 0 {
			n := len(b)
			for n > 0 && b[n-1] == 0 {
				n--
			}
			w.data(b[:n])
			w.zeros = len(b) - n
			w.taken += len(b)
			return
		}
		end := i
		for end > 0 && b[end-1] == 0 {
			end--
		}
		w.data(b[:end])
		w.begin(w.taken+end, each)
		w.taken += i + 3
		b = b[i+3:]
	}
}

// End gives the unit that is under way, as the stream ends or a frame does.
func (w *AnnexB) End(each func(head []byte, size int)) {
	w.zeros = 0
	w.close(each)
}

// Head returns what is kept of the unit under way and how many bytes it has so
// far; nil before the first start code.
func (w *AnnexB) Head() ([]byte, int) {
	if !w.in {
		return nil, 0
	}
	return w.head.bytes(), w.size
}

// Begin is how many bytes had been fed since Reset before the start code of the
// unit under way; while Feed calls back, of the unit that it gives.
func (w *AnnexB) Begin() int { return w.at }

// Taken is how many bytes have been fed since Reset.
func (w *AnnexB) Taken() int { return w.taken }

// Reset forgets the unit under way and counts bytes from nought.
func (w *AnnexB) Reset() {
	w.in, w.zeros, w.size, w.head.n = false, 0, 0, 0
	w.taken, w.at = 0, 0
}

func (w *AnnexB) data(b []byte) {
	if !w.in || len(b) == 0 {
		return
	}
	w.head.add(b)
	w.size += len(b)
}

var zeros [HeadBytes]byte

func (w *AnnexB) zerosAreData() {
	if w.in {
		w.head.add(zeros[:min(w.zeros, HeadBytes)])
		w.size += w.zeros
	}
	w.zeros = 0
}

func (w *AnnexB) begin(at int, each func(head []byte, size int)) {
	w.close(each)
	w.in, w.zeros, w.at = true, 0, at
}

func (w *AnnexB) close(each func(head []byte, size int)) {
	if w.in && w.size > 0 {
		each(w.head.bytes(), w.size)
	}
	w.in, w.size, w.head.n = false, 0, 0
}
