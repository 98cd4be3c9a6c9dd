package reader

import (
	"bytes"
	"io"
)

// Bytes is a file of which these are all bytes: a piece of one that is looked at
// beforehand.
func Bytes(path string, b []byte) *Input {
	return &Input{Path: path, Size: int64(len(b)), raw: newRaw(nil), src: bytes.NewReader(nil), head: b, stop: func() {}}
}

// All reads a file to its end, or to so many bytes: what is small enough to be looked at
// as a whole. An error comes with what could be read before it.
func (in *Input) All(most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		err = readError(in, err, int64(len(b)))
	}
	return b, err
}
