package live

import "strings"

// bars are a curve's eight heights. Nothing at all is drawn as a low line, what
// was not measured as a blank: they are not the same, and neither is little.
var bars = []rune("▁▂▃▄▅▆▇█")

// spark draws values in so many columns, the newest on the right. Where there are
// more values than columns, worst picks which of a column's values is shown. full
// is the value of a whole bar.
func spark(values []float32, columns int, full float32, worst func(a, b float32) float32) string {
	var b strings.Builder
	n := len(values)
	per := max(1, (n+columns-1)/columns)
	used := (n + per - 1) / per
	b.WriteString(strings.Repeat(" ", max(0, columns-used)))
	for c := range used {
		// Columns are counted from the newest, so that a curve moves as a whole.
		hi := n - (used-1-c)*per
		b.WriteRune(bar(pick(values[max(0, hi-per):hi], worst), full))
	}
	return b.String()
}

func pick(values []float32, worst func(a, b float32) float32) float32 {
	out := float32(-1)
	for _, v := range values {
		switch {
		case v < 0:
		case out < 0:
			out = v
		default:
			out = worst(out, v)
		}
	}
	return out
}

func bar(v, full float32) rune {
	switch {
	case v < 0 || v != v:
		return ' '
	case v == 0 || full <= 0:
		return '_'
	}
	// A twentieth less than full is still a whole bar: a second has 24 or 26 frames
	// of 25 as its limits fall.
	return bars[min(int(v/full*1.05*float32(len(bars))), len(bars)-1)]
}

func least(a, b float32) float32 { return min(a, b) }
func most(a, b float32) float32  { return max(a, b) }

// highest is the most of a curve, 0 where nothing was measured.
func highest(values []float32) float32 {
	out := float32(0)
	for _, v := range values {
		out = max(out, v)
	}
	return out
}
