package streams

import (
	"fmt"
	"math"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// rhythm is by what a stream that falls back comes. Somebody who makes or paces too
// few frames gives as many each second, whatever their size. A link, and a process
// that copies bytes, carries as many bytes each second, and key frames hold up the
// others.
type rhythm struct {
	seconds          int
	frames           float64 // per second, mean
	uneven           float64 // standard deviation of the frames per second, as a share of their mean
	unevenBytes      float64 // of the bytes per second, likewise
	fewBytes, mostly float64 // bytes per second, least and most
}

// Of ffmpeg -readrate 0.8 the frames per second differ by 0 to 1 %, the bytes by 4 %
// even at a constant bit rate; behind a token bucket the frames differ as much as
// the bytes and more, 5 to 7 %.
const (
	evenFrames  = 0.02
	unevenTimes = 2.0
	fewSeconds  = 3
)

// byFrames reports that frames come evenly though their bytes do not.
func (h rhythm) byFrames() bool {
	return h.seconds >= fewSeconds && h.uneven <= evenFrames && h.unevenBytes >= max(unevenTimes*h.uneven, evenFrames)
}

func (h rhythm) String() string {
	return fmt.Sprintf("%.1f frames came each second (±%.1f %%) though they were of %s to %s: they are made, or sent, at that pace, and not held up by their size on a link",
		h.frames, 100*h.uneven, units.Bytes(h.fewBytes), units.Bytes(h.mostly))
}

// rhythm reads the whole seconds in which the stream fell back and the reader was in
// time.
func (f *faulty) rhythm(r *recording.Recording) rhythm {
	var h rhythm
	if !f.slow {
		return h
	}
	frames, bytes := f.video(r, "snag_stream_frames_total"), f.video(r, "snag_stream_bytes_total")
	media := f.figure(r, "snag_stream_media_seconds_total")
	late, _ := readerLate(r, f.stream, r.Window())
	var n, b []float64
	for i := 1; i < len(frames); i++ {
		from, to := frames[i-1].T, frames[i].T
		wall := to.Sub(from).Seconds()
		moved, ok := grown(media, from, to)
		came, known := grown(bytes, from, to)
		fellBack := ok && moved < keepsPace*wall && to.Sub(from) < 2*time.Second
		if !fellBack || !known || intervals.Cover(late, from) || intervals.Cover(late, to) {
			if len(n) >= fewSeconds {
				break
			}
			n, b = nil, nil // seconds in a row only
			continue
		}
		n, b = append(n, (frames[i].V-frames[i-1].V)/wall), append(b, came/wall)
	}
	if len(n) < fewSeconds {
		return h
	}
	h.seconds = len(n)
	h.frames, h.uneven = spread(n)
	_, h.unevenBytes = spread(b)
	h.fewBytes, h.mostly = b[0], b[0]
	for _, v := range b {
		h.fewBytes, h.mostly = min(h.fewBytes, v), max(h.mostly, v)
	}
	return h
}

// video is a running total of the stream's pictures at its place.
func (f *faulty) video(r *recording.Recording, name string) []recording.Point {
	for _, s := range r.Select(name, "stream", f.stream.Row.Name, "kind", "video") {
		if s.Labels["layer"] == f.stream.Row.Layer {
			return s.Points
		}
	}
	return nil
}

func (f *faulty) figure(r *recording.Recording, name string) []recording.Point {
	for _, s := range r.Select(name, "stream", f.stream.Row.Name) {
		if s.Labels["layer"] == f.stream.Row.Layer {
			return s.Points
		}
	}
	return nil
}

// grown is how much a running total grew between two samples of it.
func grown(all []recording.Point, from, to recording.Time) (float64, bool) {
	a, b := -1.0, -1.0
	for _, p := range all {
		if p.T == from {
			a = p.V
		}
		if p.T == to {
			b = p.V
		}
	}
	return b - a, a >= 0 && b >= a
}

// spread is the mean and the standard deviation as a share of it.
func spread(all []float64) (mean, share float64) {
	for _, v := range all {
		mean += v / float64(len(all))
	}
	if mean <= 0 {
		return mean, math.Inf(1)
	}
	sum := 0.0
	for _, v := range all {
		sum += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sum/float64(len(all))) / mean
}
