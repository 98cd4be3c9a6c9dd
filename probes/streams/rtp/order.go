package rtp

import (
	"slices"
	"time"
)

// maxDepth is how far pictures are reordered at the most (ITU-T H.264 A.3.1:
// max_dec_frame_buffering is 16 at the most).
const maxDepth = 16

// order derives decoding times from presentation times; see the package's comment.
type order struct {
	depth int   // k
	last  int64 // the DTS before
	least int64 // high[0] before; below last for a while when depth was found too small
	pts   int64 // the PTS before
	ok    bool
	high  [maxDepth + 2]int64 // the k+1 greatest presentation times, ascending
}

// learn sets the depth by the presentation times of the first pictures, in the
// order of arrival, and fills the buffer as if pictures had come before them.
func (o *order) learn(pts []int64) {
	o.depth = depthOf(pts)
	o.fill(pts[0], spacing(pts))
}

// depthOf is over how many pictures at the most one is shown that came after them.
func depthOf(pts []int64) int {
	depth := 0
	for i, p := range pts {
		over := 0
		for _, before := range pts[:i] {
			if before > p && before-p < int64(jumpPTS) {
				over++
			}
		}
		depth = max(depth, over)
	}
	return min(depth, maxDepth)
}

// spacing is the median step between pictures; 40 ms where there is but one.
func spacing(pts []int64) int64 {
	sorted := slices.Clone(pts)
	slices.Sort(sorted)
	steps := make([]int64, 0, len(sorted))
	for i := 1; i < len(sorted); i++ {
		steps = append(steps, sorted[i]-sorted[i-1])
	}
	if len(steps) == 0 {
		return int64(40 * time.Millisecond)
	}
	slices.Sort(steps)
	return steps[len(steps)/2]
}

// jumpPTS is more than reordering ever moves a picture: the time itself jumped.
const jumpPTS = 5 * time.Second

// fill begins at first: of the k pictures reordered, each is one step before.
func (o *order) fill(first, step int64) {
	for i := range o.depth + 1 {
		o.high[i] = first - int64(o.depth+1-i)*step
	}
	o.last, o.pts, o.ok = o.high[0], first, true
	o.least = o.high[0]
}

// dts takes the next picture's presentation time.
func (o *order) dts(pts int64) int64 {
	if !o.ok {
		o.fill(pts, int64(40*time.Millisecond))
	}
	if d := pts - o.pts; d > int64(jumpPTS) || d < -int64(jumpPTS) {
		step := (o.high[o.depth] - o.high[0]) / int64(max(o.depth, 1))
		o.fill(pts, step)
	}
	o.pts = pts
	// The least of the k+1 greatest makes room, the new one is put in its place.
	h := o.high[:o.depth+1]
	h[0] = pts
	for i := 0; i < o.depth && h[i] > h[i+1]; i++ {
		h[i], h[i+1] = h[i+1], h[i]
	}
	if h[0] < o.least && o.depth < maxDepth {
		// Shown before one that already had its DTS: reordered deeper than known. The
		// one that made room is among the greatest again.
		o.depth++
		h = o.high[:o.depth+1]
		h[o.depth] = o.least
		slices.Sort(h)
	}
	o.least = h[0]
	o.last = max(h[0], o.last)
	return o.last
}
