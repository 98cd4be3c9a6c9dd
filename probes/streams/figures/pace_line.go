package figures

import "math"

// In a watch of ten seconds or so there are no ten seconds of marks. A pace is found from fewer where
// the marks lie on a line so well that chance does not make it: of frames that come in time to within
// 10 ms per second, 0.96 is found in eight seconds; 60 ms of jitter a frame leave less than that
// in the least of a second, for it is the best of all its frames. With more jitter a pace as close to
// 1 as that takes longer, or is not found.
const (
	lineWindow = 8 * second
	lineUnder  = 0.97            // what clocks that run free and are live keep to is 0.99 to 1.01
	lineErrors = 6               // standard errors by which it must lie below that
	lineAside  = second * 3 / 50 // how far from the line a mark may lie: a delay that grew and stayed makes a bend
)

// onLine is the first mark of the last lineWindow if they show a pace below lineUnder beyond doubt, or -1.
func (p *pace) onLine() int {
	i := p.back(lineWindow)
	if i < 0 || p.n-i < 6 {
		return -1
	}
	slope, err, aside := fit(p.mark[i:p.n])
	if slope-lineErrors*err < 1-lineUnder || aside > float64(lineAside) {
		return -1
	}
	return i
}

// fit is the straight line through the marks by least squares: how far they fall behind per unit of
// time, the standard error of it, and the farthest mark from the line, ns.
func fit(all []mark) (slope, err, aside float64) {
	n := float64(len(all))
	var x, y, xx, xy float64
	at := func(k mark) (float64, float64) { return float64(k.at - all[0].at), float64(k.off - all[0].off) }
	for _, k := range all {
		a, o := at(k)
		x, y = x+a/n, y+o/n
	}
	for _, k := range all {
		a, o := at(k)
		xx, xy = xx+(a-x)*(a-x), xy+(a-x)*(o-y)
	}
	slope = xy / xx
	sum := 0.0
	for _, k := range all {
		a, o := at(k)
		d := o - y - slope*(a-x)
		sum, aside = sum+d*d, max(aside, math.Abs(d))
	}
	return slope, math.Sqrt(sum / (n - 2) / xx), aside
}
