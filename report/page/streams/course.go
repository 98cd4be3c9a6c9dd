package streams

import (
	"math"
	"time"

	"snag/recording"
)

// course is a stream's figures over time: of each second that was recorded, at its end.
// NaN is what was not measured.
type course struct {
	t []recording.Time
	v [quantities][]float64
}

const (
	hole     = 3 * time.Second  // between two samples: nobody looked in between
	opening  = 5 * time.Second  // after the first frame: servers send at once what they have kept
	ahead    = 0.1              // seconds that the timestamps moved more than the clock: such a burst
	kilobits = 8.0 / 1000       // of a byte
	rated    = 10 * time.Second // of a transport that comes in segments: its rates are over so long
)

var nan = math.NaN()

// courseOf makes the course of what was recorded. Every second of a stream has a sample of
// how far its timestamps moved.
func courseOf(s *seen) course {
	media := s.series["snag_stream_media_seconds_total"]
	c := course{t: make([]recording.Time, len(media))}
	for i, p := range media {
		c.t[i] = p.T
	}
	for q := range c.v {
		c.v[q] = empty(len(media))
	}
	at := func(name string) []float64 { return c.align(s.series[name]) }
	moved := c.steps(at("snag_stream_media_seconds_total"))
	frames := c.steps(at("snag_stream_frames_total video"))
	if !anyCame(frames) {
		frames = c.steps(at("snag_stream_frames_total audio")) // a stream without a picture
	}
	bits := [2][]float64{c.steps(at("snag_stream_bytes_total video")), c.steps(at("snag_stream_bytes_total audio"))}
	c.v[late], c.v[skew], c.v[gop], c.v[gap] = at("snag_stream_drift_seconds"), at("snag_stream_skew_seconds"), at("snag_stream_gop_seconds"), at("snag_stream_gap_seconds")
	opens := c.openings(s.events, moved)
	rate := func(grown []float64) []float64 { return c.rates(grown, opens) }
	if s.row.Protocol == "hls" {
		frozen := c.within(frozenSpans(s.events))
		rate = func(grown []float64) []float64 { return c.segmentRates(grown, moved, frozen) }
	}
	c.v[fps] = rate(frames)
	for k, of := range []int{video, audio} {
		if !anyCame(bits[k]) {
			continue // none seen is not the same as none there
		}
		c.v[of] = rate(bits[k])
		for i := range c.v[of] {
			c.v[of][i] *= kilobits
		}
	}
	c.v[lost] = sum(c.steps(at("snag_stream_packets_lost_total")), c.steps(at("snag_stream_continuity_errors_total")))
	c.blank(s.events)
	c.against(moved, opens)
	return c
}

// blank takes away what stands while nobody read the stream: it is no zero.
func (c *course) blank(events []recording.Event) {
	for i, away := range c.within(awaySpans(events)) {
		if !away {
			continue
		}
		for q := range c.v {
			c.v[q][i] = nan
		}
	}
}

// against is how far the timestamps are ahead of the clock since the stream came, in
// seconds: it falls while they move slower.
func (c *course) against(moved []float64, opens []bool) {
	sum := nan
	for i := range c.t {
		if math.IsNaN(c.v[gap][i]) || math.IsNaN(moved[i]) || opens[i] {
			sum = nan
			continue
		}
		if math.IsNaN(sum) {
			sum = 0
		} else {
			sum += moved[i] - c.length(i)
		}
		c.v[clock][i] = sum
	}
}
