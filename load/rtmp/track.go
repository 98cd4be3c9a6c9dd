package rtmp

import "time"

// track is what came of one kind of media.
type track struct {
	frames      int64
	first, last time.Duration // arrivals, after the run's beginning
	stamp       uint32        // of the last frame, ms
	media       time.Duration // from the first frame's timestamp to the last one's
	ahead       time.Duration // the least that an arrival was behind its timestamp, from the first one's
	behind      time.Duration // of the last frame
	freezes     int
	frozen      time.Duration
}

// frozenFrom is the longest time between two frames that is no freeze.
const frozenFrom = time.Second

// frame takes one that came at at.
func (t *track) frame(at time.Duration, stamp uint32) {
	if t.frames == 0 {
		t.first, t.last, t.stamp = at, at, stamp
		t.frames++
		return
	}
	t.gap(at)
	t.media += time.Duration(int32(stamp-t.stamp)) * time.Millisecond
	t.frames, t.last, t.stamp = t.frames+1, at, stamp
	t.behind = at - t.first - t.media
	t.ahead = min(t.ahead, t.behind)
}

func (t *track) gap(at time.Duration) {
	if d := at - t.last; d > frozenFrom {
		t.freezes++
		t.frozen += d
	}
}

// end notes that the stream went on until at, or should have.
func (t *track) end(at time.Duration) {
	if t.frames > 0 {
		t.gap(at)
	}
}

// rate is frames per second as they came, own as their timestamps have them; 0: too few to tell. A server may send
// what it holds at once at the beginning: this makes rate larger.
func (t *track) rate() (rate, own float64) {
	if t.frames < 2 {
		return 0, 0
	}
	if d := t.last - t.first; d > 0 {
		rate = float64(t.frames-1) / d.Seconds()
	}
	if t.media > 0 {
		own = float64(t.frames-1) / t.media.Seconds()
	}
	return rate, own
}

// fellBehind is how much later the last frame came, by its timestamp, than the one that came earliest.
func (t *track) fellBehind() time.Duration { return t.behind - t.ahead }
