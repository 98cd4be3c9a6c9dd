package ts

// sectionMax bounds a PAT's or PMT's section: section_length is at most 1021
// (2.4.4.4, 2.4.4.9), behind three bytes.
const sectionMax = 1024

// section gathers one table's section from its packets (2.4.4).
type section struct {
	b    [sectionMax]byte
	n    int
	want int // 0: waits for a start
	Bad  uint64
}

// add takes a packet's payload and calls each with every section that is whole
// and whose CRC is right, from table_id to before the CRC.
func (s *section) add(payload []byte, start, lost bool, each func([]byte)) {
	if lost {
		s.n, s.want = 0, 0
	}
	if !start {
		if s.n > 0 {
			s.take(payload, each)
		}
		return
	}
	if len(payload) == 0 {
		return
	}
	pointer := int(payload[0])
	payload = payload[1:]
	if pointer > len(payload) {
		s.n, s.want = 0, 0
		return
	}
	if s.n > 0 {
		s.take(payload[:pointer], each)
	}
	s.n, s.want = 0, 0
	payload = payload[pointer:]
	for len(payload) > 0 && payload[0] != 0xff { // stuffing
		rest := s.take(payload, each)
		if len(rest) == len(payload) {
			return
		}
		payload = rest
	}
}

// take adds bytes to the section under way and returns what lies behind its end.
func (s *section) take(b []byte, each func([]byte)) []byte {
	for len(b) > 0 {
		if s.want == 0 {
			s.b[s.n] = b[0]
			s.n++
			b = b[1:]
			if s.n < 3 {
				continue
			}
			s.want = 3 + int(s.b[1]&15)<<8 + int(s.b[2])
			if s.want > sectionMax || s.want < 3+5+4 {
				s.Bad++
				s.n, s.want = 0, 0
				return nil
			}
			continue
		}
		n := copy(s.b[s.n:s.want], b)
		s.n += n
		b = b[n:]
		if s.n == s.want {
			whole := s.b[:s.want]
			s.n, s.want = 0, 0
			if crc(whole) == 0 {
				each(whole[:len(whole)-4])
			} else {
				s.Bad++
			}
			return b
		}
	}
	return b
}

var crcTable = func() (t [256]uint32) {
	for i := range t {
		v := uint32(i) << 24
		for range 8 {
			if v&(1<<31) != 0 {
				v = v<<1 ^ 0x04c11db7
			} else {
				v <<= 1
			}
		}
		t[i] = v
	}
	return t
}()

// crc is annex A's: 0 over a section with its CRC.
func crc(b []byte) uint32 {
	v := uint32(0xffffffff)
	for _, c := range b {
		v = v<<8 ^ crcTable[byte(v>>24)^c]
	}
	return v
}

// programMax bounds how many programs of a PAT are looked at.
const programMax = 256

// program finds one in a PAT's section (2.4.4.3): that of number want, the first
// when want is 0. ok is false when it is not in this section.
func program(b []byte, want uint16) (number, pid uint16, ok bool) {
	if len(b) < 8 || b[0] != 0 || b[5]&1 == 0 { // current_next_indicator
		return 0, 0, false
	}
	b = b[8:]
	for range programMax {
		if len(b) < 4 {
			break
		}
		number, pid = uint16(b[0])<<8|uint16(b[1]), uint16(b[2]&31)<<8|uint16(b[3])
		if number != 0 && (want == 0 || number == want) {
			return number, pid, true
		}
		b = b[4:]
	}
	return 0, 0, false
}
