package figures

import "snag/probes/streams/stream"

// gop follows groups of pictures, from key frame to key frame.
type gop struct {
	any    bool // a key frame came
	from   int64
	frames int
	bytes  int64
	newest int64

	recent [8]uint32 // frames of the last whole ones
	n      int
	last   GOP // of the last whole one
	ended  int // in this second
}

func (g *gop) frame(f stream.Frame, norm int64) {
	if f.Key && f.Kind == stream.Video {
		if g.any {
			g.whole(norm)
		}
		g.any, g.from, g.frames, g.bytes = true, norm, 0, 0
	}
	g.newest = norm
	g.frames++
	g.bytes += int64(f.Size)
}

func (g *gop) whole(norm int64) {
	copy(g.recent[1:], g.recent[:])
	g.recent[0] = uint32(min(g.frames, 1<<31))
	g.n = min(g.n+1, len(g.recent))
	g.ended++
	s := seconds(norm - g.from)
	g.last = GOP{Frames: g.frames, Seconds: s, FPS: ratio(float64(g.frames), s), Bitrate: ratio(float64(g.bytes)*8, s)}
	if g.n >= 3 {
		low, high := g.recent[0], g.recent[0]
		for _, n := range g.recent[1:g.n] {
			low, high = min(low, n), max(high, n)
		}
		g.last.Varies = known(float64(high - low))
	}
}

// take is the second's figure.
func (g *gop) take() GOP {
	v := g.last
	v.Keys = g.ended
	if g.any {
		v.Now = max(seconds(g.newest-g.from), 0)
	}
	g.ended = 0
	return v
}
