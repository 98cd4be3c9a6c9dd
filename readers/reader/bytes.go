package reader

import "bytes"

// Bytes is a file of which these are all bytes: a piece of one that is looked at
// beforehand.
func Bytes(path string, b []byte) *Input {
	return &Input{Path: path, Size: int64(len(b)), raw: newRaw(nil), src: bytes.NewReader(nil), head: b, stop: func() {}}
}
