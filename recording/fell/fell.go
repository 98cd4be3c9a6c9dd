// Package fell tells from what came of a stream in each second whether it became less than it was:
// fewer frames, or as many of far fewer bytes. The live watch and the judgement of a recording share it.
package fell

import "slices"

// What holds for both.
const (
	Least = 5 // seconds that it lasts, and that there were before it

	Frames = 0.6     // frames per second, of those before: 25 of 50, 15 of 30
	Bytes  = 1.0 / 8 // bytes per second, of those before
	Thin   = 6_000   // B/s before: of less nothing can be told

	kept    = 0.8 // of the frames before: with fewer it is these that are missing
	steady  = 1.3 // the most of a rate, of the least
	evenIn  = 10  // one second in so many may be unlike the others
	lowTwin = 2   // a rate that is often as low as so many times Bytes does not fall to it
)

// Mean is the mean rate; 0 of none.
func Mean(rates []float64) float64 {
	sum := 0.0
	for _, v := range rates {
		sum += v
	}
	return sum / float64(max(len(rates), 1))
}

// To reports whether the rates now are a share of those before or less, the first of them nearly so.
func To(share float64, before, now []float64) bool {
	base := Mean(before)
	return base > 0 && len(now) > 0 && Mean(now) <= share*base && now[0] <= (1+share)/2*base
}

// Kept reports whether as many come now as before, as far as that matters.
func Kept(before, now []float64) bool { return Mean(before) > 0 && Mean(now) >= kept*Mean(before) }

// Steady reports that a rate is one, and not what is left of another: each second but the first and
// the last has as many.
func Steady(rates []float64) bool {
	if len(rates) < 3 {
		return true
	}
	inner := rates[1 : len(rates)-1]
	return slices.Max(inner) <= steady*slices.Min(inner)
}

// Even reports that a rate hardly varies, but for one second in ten.
func Even(rates []float64) bool {
	all := slices.Sorted(slices.Values(rates))
	n := len(all)
	return n > 0 && all[n-1-n/evenIn] <= steady*all[n/evenIn]
}

// Ever reports whether a rate was often nearly as low as a fall would make it: over so many seconds,
// one time in ten.
func Ever(rates []float64, over int) bool {
	var means []float64
	for i := over; i <= len(rates); i++ {
		means = append(means, Mean(rates[i-over:i]))
	}
	if len(means) == 0 {
		return false
	}
	slices.Sort(means)
	return means[len(means)/evenIn] <= lowTwin*Bytes*Mean(rates)
}

// FrameRate reports whether the frame rate fell from one even rate to a lower steady one.
func FrameRate(before, now []float64) bool {
	return To(Frames, before, now) && Steady(now) && Even(before)
}

// BitRate reports whether as many frames come of far fewer bytes, of a stream that was not often so.
func BitRate(bytesBefore, bytesNow, framesBefore, framesNow []float64) bool {
	return Mean(bytesBefore) >= Thin && To(Bytes, bytesBefore, bytesNow) && Kept(framesBefore, framesNow) && !Ever(bytesBefore, len(bytesNow))
}

// FrameRateBack reports whether the frame rate is again what it was.
func FrameRateBack(base float64, now []float64) bool { return Mean(now) >= kept*base }

// BitRateBack reports whether the bit rate is again far over what it fell to.
func BitRateBack(base float64, now []float64) bool { return Mean(now) >= lowTwin*Bytes*base }
