package reader

import "bytes"

// Bytes is a file of which these are all bytes: a piece of one that is looked at
// beforehand.
func Bytes(path string, b []byte) *Input {
	return &Input{Path: path, Size: int64(len(b)), raw: newRaw(nil), src: bytes.NewReader(nil), head: b, stop: func() {}}
}

// All reads a file to its end, or to so many bytes: what is small enough to be looked at
// as a whole. An error comes with what could be read before it.
func (in *Input) All(most int64) ([]byte, error) {
	const first, small = 64 << 10, 1 << 20
	room := int64(first)
	if in.Packed == "" && in.Size > 0 {
		room = in.Size
	}
	b := make([]byte, 0, min(room, most))
	for int64(len(b)) < most {
		if len(b) == cap(b) {
			room = min(2*int64(cap(b)), most)
			if room > small { // the whole room at once: copies of copies would take as much again
				room = most
			}
			b = append(make([]byte, 0, room), b...)
		}
		n, err := in.Read(b[len(b):cap(b)])
		if b = b[:len(b)+n]; err != nil {
			return b, readError(in, err, int64(len(b)))
		}
	}
	return b, nil
}
