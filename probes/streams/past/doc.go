// Package past is what a running watch remembers of one stream: its figures of each second
// of the last ten minutes, the least and the most of each minute of the last day, and its
// last events. It is bounded: TestMemory says how much it is at the most.
package past

import (
	"math"

	"snag/recording"
)

// What is remembered.
const (
	Seconds = 600
	Minutes = 24 * 60
	Events  = 64
)

// Quantities of a second, in the order in which report/page/streams has them.
const (
	Late  = iota // s
	Clock        // s, how far the timestamps are ahead of the clock
	FPS
	Video // Mb/s
	Audio // Mb/s
	GOP   // s
	Gap   // s
	Skew  // s
	Lost
	Quantities
)

// Values are of one second; NaN is not measured.
type Values [Quantities]float64

// NotMeasured is a second of which nothing was measured.
func NotMeasured() Values {
	var v Values
	for q := range v {
		v[q] = math.NaN()
	}
	return v
}

// Point is one second, or the least and the most of one minute. T is its end.
type Point struct {
	T         recording.Time
	Low, High Values
}
