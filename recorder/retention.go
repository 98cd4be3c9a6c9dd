package recorder

import (
	"time"

	"snag/recording"
)

// pieceLength is the length of a piece when it is recorded.
const pieceLength = time.Minute

// tier says that pieces older than age are downsampled to step and merged into pieces of length.
type tier struct {
	age    time.Duration
	step   time.Duration
	length time.Duration
}

var tiers = []tier{
	{age: time.Hour, step: 10 * time.Second, length: 10 * time.Minute},
	{age: 6 * time.Hour, step: time.Minute, length: time.Hour},
}

// Limits bound a ring.
type Limits struct {
	Keep time.Duration
	Size int64 // bytes
}

// merge lists pieces that are to become one downsampled piece.
type merge struct {
	pieces []Piece
	step   time.Duration
}

// due returns the pieces to delete and the first group of pieces to downsample. The open piece is never
// touched.
func due(all []Piece, now recording.Time, l Limits) (gone []Piece, old merge) {
	size := int64(0)
	var left []Piece
	for _, p := range all {
		size += p.Size
		switch {
		case p.Open:
		case now.Sub(p.End) > l.Keep:
			gone = append(gone, p)
			size -= p.Size
		default:
			left = append(left, p)
		}
	}
	for len(left) > 0 && size > l.Size { // oldest first
		gone = append(gone, left[0])
		size -= left[0].Size
		left = left[1:]
	}
	for i := len(tiers) - 1; i >= 0; i-- {
		if m := first(left, now, tiers[i]); len(m.pieces) > 0 {
			return gone, m
		}
	}
	return gone, merge{}
}

// first returns the oldest pieces within one span of the tier's length, if all of that span is old enough.
func first(all []Piece, now recording.Time, t tier) merge {
	m := merge{step: t.step}
	for _, p := range all {
		if p.Step >= t.step {
			if len(m.pieces) > 0 {
				break
			}
			continue
		}
		span := recording.Time(t.length)
		if len(m.pieces) > 0 && p.Start/span != m.pieces[0].Start/span {
			break
		}
		if now.Sub((p.Start/span+1)*span) < t.age { // the rest of its span is younger
			break
		}
		m.pieces = append(m.pieces, p)
	}
	return m
}
