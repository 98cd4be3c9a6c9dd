package sides

import "slices"

const (
	// sketchSize segments of each direction are remembered: those whose hash is
	// smallest, so that two captures of it remember the same ones wherever they begin.
	sketchSize = 12
	// mostSketches of a capture: the first connections.
	mostSketches = 4096
)

// sketch is a sample of the segments of one direction (bottom-k: Broder 1997). A segment is
// known by its timestamps, which offloads and NAT leave as they are; without them by
// its numbers.
type sketch struct {
	n     int
	marks [sketchSize]mark
}

type mark struct {
	hash uint64
	at   int64
	seq  uint32
}

func (k *sketch) note(s *Segment) {
	h := mix(uint64(s.Seq)<<32 | uint64(s.Ack))
	if s.Stamped {
		h = mix(uint64(s.TSVal)<<32 | uint64(s.TSEcr))
	}
	if k.n == sketchSize && h >= k.marks[k.n-1].hash {
		return
	}
	i, ok := slices.BinarySearchFunc(k.marks[:k.n], h, func(m mark, h uint64) int {
		switch {
		case m.hash < h:
			return -1
		case m.hash > h:
			return 1
		}
		return 0
	})
	if ok { // of one tick: the first
		return
	}
	if k.n < sketchSize {
		k.n++
	}
	copy(k.marks[i+1:k.n], k.marks[i:k.n-1])
	k.marks[i] = mark{h, s.T, s.Seq}
}

// mix spreads bits (the finalizer of SplitMix64, Steele et al. 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// common are the marks of a direction that both captures remember.
func (c *connection) common(dir int, each func(x, y mark)) {
	if f, g := c.flows[0].sketch, c.flows[1].sketch; f != nil && g != nil {
		common(&f[c.dir(0, dir)], &g[c.dir(1, dir)], each)
	}
}

func common(a, b *sketch, each func(x, y mark)) {
	for i, j := 0, 0; i < a.n && j < b.n; {
		switch x, y := a.marks[i], b.marks[j]; {
		case x.hash < y.hash:
			i++
		case x.hash > y.hash:
			j++
		default:
			each(x, y)
			i, j = i+1, j+1
		}
	}
}
