// Package picture looks at key pictures of live streams: it has them decoded by ffmpeg, small and
// grey, and judges what a viewer would see at once: garbled, black, one colour, the same as before.
package picture

// Width and Height are of the pictures that are judged: each point is the mean of many of the
// stream's, so that noise hardly shows.
const (
	Width  = 64
	Height = 36
)

// Grey is a picture of Width×Height points, 0 is black and 255 white.
type Grey []byte

// Picture is a key picture as it was decoded.
type Picture struct {
	Grey
	Garbled bool // the decoder met errors in it, and made up what it could not read
}

// What a picture looks like.
const (
	blackMean  = 10 // of all points
	blackMost  = 24 // of nearly all: a logo or a clock makes no picture, and stars make none black
	plainMost  = 3  // from the mean, of nearly all
	nearlyAll  = 99 // of a hundred
	alikeMost  = 6  // between two points: what coding the same picture again changes, measured: up to 5
	alikeMean  = 1.0
	fullPoints = Width * Height
)

// Black reports whether nearly all of it is.
func (g Grey) Black() bool { return g.mean() <= blackMean && g.within(0, blackMost) }

// Plain reports whether it is of one brightness, and not black.
func (g Grey) Plain() bool { return !g.Black() && g.within(g.mean(), plainMost) }

// Alike reports whether two are the same but for what coding changes.
func Alike(a, b Grey) bool {
	if len(a) != fullPoints || len(b) != fullPoints {
		return false
	}
	sum := 0
	for i := range a {
		d := max(int(a[i])-int(b[i]), int(b[i])-int(a[i]))
		if sum += d; d > alikeMost {
			return false
		}
	}
	return float64(sum) <= alikeMean*fullPoints
}

func (g Grey) mean() int {
	sum := 0
	for _, v := range g {
		sum += int(v)
	}
	return sum / max(len(g), 1)
}

// within reports whether nearly all points are at most so far from a value.
func (g Grey) within(of, most int) bool {
	n := 0
	for _, v := range g {
		if max(int(v)-of, of-int(v)) <= most {
			n++
		}
	}
	return len(g) > 0 && n*100 >= nearlyAll*len(g)
}
