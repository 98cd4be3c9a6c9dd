package codec

import "fmt"

// Framed makes frames of AAC, which need a configuration of their own, a byte stream: each gets a
// header. The zero value makes none.
type Framed struct {
	head [7]byte // of a frame of no length
	ok   bool
}

// mostADTS is the largest frame that an ADTS header can tell, header and all.
const mostADTS = 1<<13 - 1

// ADTSOf reads an AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1) for headers by 1.A.2.2. They carry
// the object types 1 to 4 with a sampling rate of the table, 1 to 7 of the channel configurations, and
// frames of 1024 samples. Where SBR is signalled before the core's own type, they are the core's: a decoder
// finds SBR in the frames.
func ADTSOf(config []byte) (Framed, error) {
	const what = "AudioSpecificConfig"
	r := bits{b: config[:min(len(config), MaxHead)]}
	object := objectType(&r)
	rate := rateIndex(&r)
	channels := r.u(4)
	if object == 5 || object == 29 {
		rateIndex(&r)
		object = objectType(&r)
	}
	short := r.flag() // frameLengthFlag
	switch {
	case r.short:
		return Framed{}, bad(what, errShort)
	case object < 1 || object > 4 || rate < 0 || channels < 1 || channels > 7 || short:
		return Framed{}, bad(what, fmt.Errorf("ADTS can't carry it: object type %d, channel configuration %d", object, channels))
	}
	f := Framed{ok: true}
	f.head[0], f.head[1] = 0xff, 0xf1 // sync word, MPEG-4, no CRC
	f.head[2] = byte(object-1)<<6 | byte(rate)<<2 | byte(channels)>>2
	f.head[3] = byte(channels) << 6
	f.head[5], f.head[6] = 0x1f, 0xfc // the buffer's fullness is not told
	return f, nil
}

// Header is the header of a frame of size bytes; ok is false where there is none.
func (f *Framed) Header(size int) (head [7]byte, ok bool) {
	n := size + len(f.head)
	if !f.ok || size <= 0 || n > mostADTS {
		return head, false
	}
	head = f.head
	head[3] |= byte(n >> 11)
	head[4] = byte(n >> 3)
	head[5] |= byte(n << 5)
	return head, true
}

// rateIndex is the place of a sampling rate in the table, -1 for one that is not in it.
func rateIndex(r *bits) int {
	i := int(r.u(4))
	if i < 15 {
		if aacRates[i] == 0 {
			return -1
		}
		return i
	}
	hz := int(r.u(24))
	for i, v := range aacRates {
		if v == hz && hz != 0 {
			return i
		}
	}
	return -1
}
