package codec

import (
	"errors"

	"snag/probes/streams/stream"
)

// Sets reads the parameter sets of a configuration record (avcC, hvcC) into a byte stream, and how
// many bytes a unit's length has. There may be none: they come in the stream then.
func Sets(codec string, b []byte) (sets []byte, length int, err error) {
	switch codec {
	case H264:
		return avcSets(b)
	case HEVC:
		return hevcSets(b)
	}
	return nil, 0, errors.New("a codec without parameter sets")
}

func avcSets(b []byte) (sets []byte, length int, err error) {
	if len(b) < 7 || b[0] != 1 {
		return nil, 0, bad("avcC", errShort)
	}
	length = int(b[4]&3) + 1
	n, rest := int(b[5]&31), b[6:]
	for range 2 { // of sequences, then of pictures
		if sets, rest, err = takeSets(sets, rest, n); err != nil {
			return nil, 0, bad("avcC", err)
		}
		if len(rest) == 0 {
			break
		}
		n, rest = int(rest[0]), rest[1:]
	}
	return sets, length, nil
}

func hevcSets(b []byte) (sets []byte, length int, err error) {
	if len(b) < 23 || b[0] > 1 {
		return nil, 0, bad("hvcC", errShort)
	}
	length = int(b[21]&3) + 1
	rest := b[23:]
	for range b[22] {
		if len(rest) < 3 {
			return nil, 0, bad("hvcC", errShort)
		}
		n := int(rest[1])<<8 | int(rest[2])
		if sets, rest, err = takeSets(sets, rest[3:], n); err != nil {
			return nil, 0, bad("hvcC", err)
		}
	}
	return sets, length, nil
}

// takeSets appends n units with 16-bit lengths.
func takeSets(to, b []byte, n int) (sets, rest []byte, err error) {
	for range n {
		if len(b) < 2 {
			return nil, nil, errShort
		}
		size := int(b[0])<<8 | int(b[1])
		if size > len(b)-2 {
			return nil, nil, errShort
		}
		to = append(append(to, 0, 0, 0, 1), b[2:2+size]...)
		b = b[2+size:]
	}
	return to, b, nil
}

// ByteStream is a picture whose units have lengths before them as a byte stream, behind its parameter
// sets; nil where a length goes beyond it.
func ByteStream(sets, b []byte, length int) []byte {
	out := append(make([]byte, 0, min(len(sets)+len(b)+64, stream.MostKey)), sets...)
	for len(b) > 0 {
		nal, rest, whole := NextNAL(b, length)
		if !whole {
			return nil
		}
		out = append(append(out, 0, 0, 0, 1), nal...)
		b = rest
	}
	return out
}
