package actor

import (
	"encoding/binary"
	"io"
	"time"

	"snag/lab/clientlog"
)

// stampSize is how much of a chunk says when it was due: ns since 1970.
const stampSize = 8

// stamps logs what comes of a stream: its bytes, and how late each stamped chunk is whole.
type stamps struct {
	from  io.Reader
	chunk int // bytes; 0: no stamps
	log   *clientlog.Writer
	at    int // bytes of the chunk that have come
	due   [stampSize]byte
}

func (s *stamps) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	s.log.Delivered(n)
	for left := b[:max(n, 0)]; s.chunk > 0 && len(left) > 0; {
		if s.at < stampSize {
			copy(s.due[s.at:], left)
		}
		part := min(len(left), s.chunk-s.at)
		s.at, left = s.at+part, left[part:]
		if s.at == s.chunk {
			s.at = 0
			due := time.Unix(0, int64(binary.BigEndian.Uint64(s.due[:])))
			s.log.End(s.log.Begin(due), clientlog.OK)
		}
	}
	return n, err
}
