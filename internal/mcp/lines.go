package mcp

import (
	"bufio"
	"errors"
	"io"
)

// mostLine bytes of a message are read. The longest request of a client is a few KB.
const mostLine = 1 << 20

// nextLine reads a line without its end. Of a line that is too long nothing is kept, and long is true. The last line
// may have no end; err is io.EOF after it.
func nextLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > mostLine {
			line, long = nil, true
		}
		if !long {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(line) > 0 || long):
			return line, long, nil // the next call returns the end
		default:
			return line, long, err
		}
	}
}
