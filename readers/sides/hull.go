package sides

import (
	"cmp"
	"slices"

	"snag/internal/sorting"
)

// point is one comparison of two clocks: x is the time by the one, y what the other
// is at most behind or ahead at that time, s.
type point struct{ x, y float64 }

const (
	hullBuffer = 64   // points that are thinned out together
	hullChunks = 1024 // pieces of time that are kept apart: where a clock was set, each is compared by itself
)

// hull keeps, of any number of points, the lower convex hulls of pieces of time: of
// all points only these can bound a straight line from above.
type hull struct {
	buf    []point
	chunks [][]point // in order of time, nearly
}

func (h *hull) add(p point) {
	h.buf = append(h.buf, p)
	if len(h.buf) >= hullBuffer {
		h.flush()
	}
}

// flush makes a chunk of what waits. Neighbours are joined where there are too many.
func (h *hull) flush() {
	if len(h.buf) == 0 {
		return
	}
	h.chunks = append(h.chunks, lower(h.buf))
	h.buf = h.buf[:0]
	if len(h.chunks) <= hullChunks {
		return
	}
	joined := h.chunks[:0]
	for i := 0; i < len(h.chunks); i += 2 {
		if i+1 == len(h.chunks) {
			joined = append(joined, h.chunks[i])
			break
		}
		joined = append(joined, lower(append(slices.Clone(h.chunks[i]), h.chunks[i+1]...)))
	}
	h.chunks = joined
}

// points are all that were kept, in order of time.
func (h *hull) points() []point {
	h.flush()
	var all []point
	for _, c := range h.chunks {
		all = append(all, c...)
	}
	sortPoints(all)
	return all
}

func sortPoints(all []point) {
	sorting.By(all, func(a, b point) int {
		if c := cmp.Compare(a.x, b.x); c != 0 {
			return c
		}
		return cmp.Compare(a.y, b.y)
	})
}

// lower is the lower convex hull of points (Andrew 1979). It sorts them.
func lower(all []point) []point {
	sortPoints(all)
	var out []point
	for _, p := range all {
		if n := len(out); n > 0 && out[n-1].x == p.x {
			continue // the lower one came first
		}
		for len(out) >= 2 && !leftTurn(out[len(out)-2], out[len(out)-1], p) {
			out = out[:len(out)-1]
		}
		out = append(out, p)
	}
	return out
}

func leftTurn(a, b, c point) bool {
	return (b.x-a.x)*(c.y-a.y)-(b.y-a.y)*(c.x-a.x) > 0
}
