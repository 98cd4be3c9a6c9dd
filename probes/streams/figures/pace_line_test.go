package figures

import (
	"fmt"
	"math/rand"
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

// paced is a stream that is watched for 12 s, the first 1.5 of which go by until its first frame.
func paced(fps, pace float64) *trace {
	tr := steady(fps, int(10.5*fps*pace), int(2*fps), 46.875).each(func(f *stream.Frame) bool {
		f.Arrival = start + int64(float64(f.Arrival-start)/pace)
		return true
	})
	tr.until = start + 10*second + second/2
	return tr
}

func slowIn(tr *trace) []Event { return tr.run(Options{}).of(recording.EventStreamSlow) }

func TestSlowIsToldInTwelveSeconds(t *testing.T) {
	for _, fps := range []float64{15, 25, 30, 60} {
		for _, pace := range []float64{0.84, 0.9, 0.94, 0.96} {
			for seed := range int64(20) {
				tr := paced(fps, pace).jitter(rand.New(rand.NewSource(seed)), 1+seed*3*ms)
				e := slowIn(tr)
				if len(e) != 1 {
					t.Fatalf("%v fps at %v, jitter to %d ms: told %+v", fps, pace, seed*3, e)
				}
				near(t, fmt.Sprintf("ratio of %v at %v fps", pace, fps), e[0].Value, pace, 0.012)
			}
		}
	}
}

// delays are what networks, servers and encoders do to a stream that keeps its pace: by how much a frame
// that is due at some second comes later, ns.
var delays = map[string]func(r *rand.Rand) func(at float64, key bool) float64{
	"jitter": func(r *rand.Rand) func(float64, bool) float64 {
		most := r.Float64() * 0.35
		return func(float64, bool) float64 { return r.Float64() * most }
	},
	"queue that comes and goes": func(r *rand.Rand) func(float64, bool) float64 {
		d, step := 0.1*r.Float64(), 0.02*r.Float64()
		return func(float64, bool) float64 { d = min(max(d+step*r.NormFloat64(), 0), 0.35); return d }
	},
	"queue that fills and stays": func(r *rand.Rand) func(float64, bool) float64 {
		from, takes, most := 10*r.Float64(), 0.5+4*r.Float64(), 0.5*r.Float64()
		return func(at float64, _ bool) float64 { return most * min(max((at-from)/takes, 0), 1) }
	},
	"queue that fills and drains": func(r *rand.Rand) func(float64, bool) float64 {
		period, most := 1+6*r.Float64(), 0.4*r.Float64()
		return func(at float64, _ bool) float64 { x := at / period; return most * (x - float64(int(x))) }
	},
	"large key frames on a narrow link": func(r *rand.Rand) func(float64, bool) float64 {
		d, costs, frees := 0.0, 0.4*r.Float64(), 0.005+0.02*r.Float64()
		return func(_ float64, key bool) float64 {
			if d = max(d-frees, 0); key {
				d += costs
			}
			return d
		}
	},
	"scenes of a variable bit rate": func(r *rand.Rand) func(float64, bool) float64 {
		d, busy := 0.0, false
		return func(float64, bool) float64 {
			if r.Intn(40) == 0 {
				busy = !busy
			}
			if d = max(d-0.004, 0); busy {
				d = min(d+0.008, 0.4)
			}
			return d
		}
	},
	"stop that is made up": func(r *rand.Rand) func(float64, bool) float64 {
		from, length := 10*r.Float64(), 4*r.Float64()
		return func(at float64, _ bool) float64 {
			if at > from && at < from+length {
				return from + length - at
			}
			return 0
		}
	},
	"pause of the publisher": func(r *rand.Rand) func(float64, bool) float64 {
		from, length := 10*r.Float64(), 4*r.Float64()
		return func(at float64, _ bool) float64 {
			if at > from {
				return length
			}
			return 0
		}
	},
	"what was held comes first": func(r *rand.Rand) func(float64, bool) float64 { // all frames until then at once
		held := 5 * r.Float64()
		return func(at float64, _ bool) float64 { return max(held-at, 0) }
	},
	"what was held comes first, at twice the pace": func(r *rand.Rand) func(float64, bool) float64 {
		held := 3 * r.Float64()
		return func(at float64, _ bool) float64 { return max(held-at/2, 0) }
	},
	"clock that is 1 % off": func(r *rand.Rand) func(float64, bool) float64 {
		return func(at float64, _ bool) float64 { return at / 100 }
	},
}

// A stream that keeps its pace is never slow, whatever delays its frames.
func TestALiveStreamIsNeverSlow(t *testing.T) {
	for name, pattern := range delays {
		for seed := range int64(300) {
			r := rand.New(rand.NewSource(seed))
			length := []float64{10.5, 40}[seed%2]
			fps := []float64{10, 25, 30, 50}[seed/2%4]
			tr := steady(fps, int(length*fps), int(fps)*2, 46.875)
			delay, newest := pattern(r), int64(0)
			tr = tr.each(func(f *stream.Frame) bool {
				d := delay(float64(f.DTS)/1e9, f.Key && f.Kind == stream.Video) + 0.02*r.Float64()
				f.Arrival = max(f.Arrival+int64(d*1e9), newest)
				newest = f.Arrival
				return true
			})
			if e := slowIn(tr); len(e) != 0 {
				t.Errorf("%s, seed %d, %v fps for %v s: told %+v", name, seed, fps, length, e)
			}
		}
	}
}
