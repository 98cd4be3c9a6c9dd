// Package mp4 reads fragmented MP4 (ISO/IEC 14496-12) as it comes, for its
// frames: sizes, times, key flags, and what its tracks are. Media data is passed
// over but for what is wanted (stream.Keys, stream.Sounds), one at a time; of the rest
// at most a megabyte is held at once.
package mp4

import (
	"encoding/binary"
	"fmt"

	"snag/internal/sorting"
	"snag/probes/streams/stream"
)

// Bounds on what is held of one box, in bytes, and of one fragment, in samples: a
// minute of 50 pictures and 100 blocks of audio a second is 9000.
const (
	maxMovie    = 1 << 20
	maxFragment = 1 << 20
	maxSamples  = 1 << 14
	maxTracks   = 16
	maxDepth    = 8
)

// Reader gives the frames of the first video and the first audio track.
type Reader struct {
	sink stream.Sink
	// Hint fills what the tracks do not say: a playlist's FRAME-RATE, for one.
	Hint   func(*stream.Params)
	Keys   stream.Keys   // takes key pictures whole; nil: nobody
	Sounds stream.Sounds // takes audio; nil: nobody

	head    [16]byte
	have    int
	left    uint64 // bytes of the box yet to come
	ends    bool   // the box goes on to the end of the file
	hold    []byte // of a moov or moof
	holds   bool
	kind    string // of the box that is held
	pos     uint64 // bytes since Segment
	start   uint64 // where the box began
	tracks  []track
	frames  []sample
	next    int // of frames
	picture stream.Whole
	second  stream.Second
	heard   int64 // DTS of the last frame of audio
	step    int64 // from it to the next, ns
}

// sample is a frame of a fragment: when and where its last byte is.
type sample struct {
	end   uint64
	frame stream.Frame
}

// New makes a Reader that gives to sink.
func New(sink stream.Sink) *Reader { return &Reader{sink: sink} }

// Segment begins another file; what the movie box said stands.
func (r *Reader) Segment() {
	r.have, r.left, r.ends, r.holds, r.pos = 0, 0, false, false, 0
	r.frames, r.next = r.frames[:0], 0
	r.picture.Drop()
	r.second.Cut()
}

// Feed takes the next bytes of a file, in any pieces, with when they came (ns).
// An error is for this file: what follows in it can't be understood.
func (r *Reader) Feed(b []byte, arrival int64) error {
	for len(b) > 0 {
		if r.left == 0 && !r.ends {
			n := copy(r.head[r.have:r.headSize()], b)
			r.have += n
			r.pos += uint64(n)
			b = b[n:]
			if r.have < r.headSize() {
				return nil
			}
			if err := r.box(); err != nil {
				return err
			}
			if r.left == 0 && !r.ends {
				if err := r.whole(); err != nil {
					return err
				}
			}
			continue
		}
		n := uint64(len(b))
		if !r.ends {
			n = min(n, r.left)
			r.left -= n
		}
		if r.holds {
			r.hold = append(r.hold, b[:n]...)
		} else {
			if r.Keys != nil {
				r.keep(b[:n], arrival)
			}
			if r.Sounds != nil {
				r.hear(b[:n], arrival)
			}
		}
		r.pos += n
		b = b[n:]
		r.passed(arrival)
		if r.left == 0 && !r.ends {
			if err := r.whole(); err != nil {
				return err
			}
		}
	}
	return nil
}

// headSize is 8, or 16 where a 64-bit size follows (4.2).
func (r *Reader) headSize() int {
	if r.have >= 8 && binary.BigEndian.Uint32(r.head[:]) == 1 {
		return 16
	}
	return 8
}

// box begins the box whose head is there.
func (r *Reader) box() error {
	size, head := uint64(binary.BigEndian.Uint32(r.head[:])), uint64(r.have)
	r.start = r.pos - head
	r.have = 0
	kind := r.head[4:8]
	switch size {
	case 0:
		r.ends = true
	case 1:
		size = binary.BigEndian.Uint64(r.head[8:])
		fallthrough
	default:
		if size < head {
			return fmt.Errorf("read MP4: a box of %d bytes, less than its head", size)
		}
		r.left = size - head
	}
	for _, c := range kind {
		if c < ' ' || c > '~' {
			return fmt.Errorf("read MP4: a box of type %q: it is not an MP4", kind)
		}
	}
	r.holds = string(kind) == "moov" || string(kind) == "moof"
	if !r.holds {
		return nil
	}
	limit := uint64(maxFragment)
	if r.kind = string(kind); r.kind == "moov" {
		limit = maxMovie
	}
	if r.ends || r.left > limit {
		return fmt.Errorf("read MP4: a %s box of %d bytes: at most %d are read", r.kind, r.left, limit)
	}
	r.hold = r.hold[:0]
	return nil
}

// whole is called at a box's end.
func (r *Reader) whole() error {
	if !r.holds {
		return nil
	}
	r.holds = false
	if r.kind == "moov" {
		return r.movie(r.hold)
	}
	r.frames, r.next = r.frames[:0], 0
	if err := r.fragment(r.hold); err != nil {
		return err
	}
	sorting.StableBy(r.frames, func(a, b sample) int {
		switch {
		case a.end < b.end:
			return -1
		case a.end > b.end:
			return 1
		}
		return 0
	})
	return nil
}

// passed gives the frames whose last byte has come.
func (r *Reader) passed(arrival int64) {
	for r.next < len(r.frames) && r.frames[r.next].end <= r.pos {
		f := r.frames[r.next].frame
		f.Arrival = arrival
		r.sink.Frame(f)
		r.next++
	}
}

// each calls f for the boxes in b; it stops at the first that does not fit.
func each(b []byte, f func(kind string, body []byte)) {
	for len(b) >= 8 {
		size, head := uint64(binary.BigEndian.Uint32(b)), uint64(8)
		switch {
		case size == 0:
			size = uint64(len(b))
		case size == 1 && len(b) >= 16:
			size, head = binary.BigEndian.Uint64(b[8:]), 16
		}
		if size < head || size > uint64(len(b)) {
			return
		}
		f(string(b[4:8]), b[head:size])
		b = b[size:]
	}
}
