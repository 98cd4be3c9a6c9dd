package recorder

import (
	"time"

	"snag/recording"
)

// pieceLength is how long one piece is, as it is recorded.
const pieceLength = time.Minute

// tier is how thin pieces become from an age on, and how much of the time is one piece then.
type tier struct {
	age    time.Duration
	step   time.Duration
	length time.Duration
}

var tiers = []tier{
	{age: time.Hour, step: 10 * time.Second, length: 10 * time.Minute},
	{age: 6 * time.Hour, step: time.Minute, length: time.Hour},
}

// Limits are what a ring may hold.
type Limits struct {
	Keep time.Duration
	Size int64 // bytes
}

// merge are pieces that become one thinner piece.
type merge struct {
	pieces []Piece
	step   time.Duration
}

// due tells what is to be done with a ring's pieces: those that go, and the first that become
// thinner. What is open is never touched.
func due(all []Piece, now recording.Time, l Limits) (gone []Piece, thinner merge) {
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
	for len(left) > 0 && size > l.Size { // the oldest first
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

// first are the oldest pieces that lie in one span of a tier's length and are all old enough for it.
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
		if now.Sub((p.Start/span+1)*span) < t.age { // more of its span may come
			break
		}
		m.pieces = append(m.pieces, p)
	}
	return m
}
