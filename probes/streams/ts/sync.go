package ts

// Packets come in 188 bytes, with 4 bytes of time before them (M2TS), or with 16
// of Reed-Solomon parity behind them (DVB).
var sizes = [3]int{Size, 192, 204}

// confirm is how many packets in a row must begin with the sync byte before they
// are believed, ITU-R's and ETSI TR 101 290's measure of sync being five.
const confirm = 3

const holdMax = 204 * (confirm + 1)

// framer cuts a byte stream into packets. It holds back less than holdMax bytes.
type framer struct {
	size  int // 0: not in sync
	hold  [holdMax]byte
	n     int
	Lost  uint64 // times that sync was lost
	Waste uint64 // bytes that were no packets
}

// feed calls each with every packet of 188 bytes in b and what was held.
func (f *framer) feed(b []byte, each func([]byte)) {
	for f.n > 0 && len(b) > 0 {
		n := copy(f.hold[f.n:], b)
		held := f.n
		f.n += n
		left := f.cut(f.hold[:f.n], each)
		if used := f.n - left; used >= held { // what is left came with b
			b = b[used-held:]
			f.n = 0
			break
		} else if used == 0 && n == len(b) {
			return
		}
		copy(f.hold[:], f.hold[f.n-left:f.n])
		f.n = left
		b = b[n:]
	}
	if left := f.cut(b, each); left > 0 {
		f.n = copy(f.hold[:], b[len(b)-left:])
	}
}

// cut takes packets off b and returns how many bytes are left, too few to tell.
func (f *framer) cut(b []byte, each func([]byte)) int {
	for {
		if f.size == 0 {
			skip, size := find(b)
			f.Waste += uint64(skip)
			b = b[skip:]
			if size == 0 {
				return len(b)
			}
			f.size = size
		}
		if len(b) < f.size {
			return len(b)
		}
		if b[0] != syncByte {
			f.Lost++
			f.size = 0
			continue
		}
		each(b[:Size])
		b = b[f.size:]
	}
}

// find looks for confirm packets in a row. It returns what can be skipped, and
// the packets' size, 0 when there are not enough bytes to tell.
func find(b []byte) (skip, size int) {
	for i := range b {
		if b[i] != syncByte {
			continue
		}
		for _, size := range sizes {
			found := 0
			at := i
			for ; at < len(b) && found < confirm && b[at] == syncByte; at += size {
				found++
			}
			if found == confirm {
				return i, size
			}
			if at >= len(b) && i+size*(confirm-1) >= len(b) {
				return i, 0 // it may be one: more bytes will tell
			}
		}
	}
	return len(b), 0
}

// datagram cuts a datagram that holds whole packets, as UDP does; it falls back
// to searching where it does not.
func (f *framer) datagram(b []byte, each func([]byte)) {
	size := f.size
	if size == 0 {
		for _, s := range sizes {
			if len(b) >= s && len(b)%s == 0 && whole(b, s) {
				size = s
				break
			}
		}
	}
	if size == 0 || f.n > 0 || len(b)%size != 0 || !whole(b, size) {
		f.feed(b, each)
		return
	}
	f.size = size
	for ; len(b) >= size; b = b[size:] {
		each(b[:Size])
	}
}

func whole(b []byte, size int) bool {
	for i := 0; i < len(b); i += size {
		if b[i] != syncByte {
			return false
		}
	}
	return true
}

// flush gives a packet that is held because what follows it never came: the last
// of a file with bytes between packets, or one shorter than confirm packets.
func (f *framer) flush(each func([]byte)) {
	b := f.hold[:f.n]
	f.n = 0
	if f.size == 0 && !whole(b, Size) {
		return
	}
	for step := max(f.size, Size); len(b) >= Size && b[0] == syncByte; b = b[min(step, len(b)):] {
		each(b[:Size])
	}
}
