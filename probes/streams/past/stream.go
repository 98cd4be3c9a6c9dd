package past

import (
	"slices"

	"snag/probes/streams/figures"
	"snag/recording"
)

// Stream is what is remembered of one stream. It is for one goroutine.
type Stream struct {
	seconds ring[packed]
	minutes ring[[2]packed] // the least, the most
	events  []figures.Event
}

// packed are values as they are kept.
type packed [Quantities]half

const (
	aSecond = recording.Time(1e9)
	middle  = aSecond / 2
)

// Add remembers what was measured from one time to another, which follows the last: for
// each second whose middle lies between them.
func (s *Stream) Add(from, to recording.Time, v Values) {
	from = max(from, to-Seconds*aSecond)
	p := pack(v)
	none := pack(NotMeasured())
	for slot := int64((from - middle + aSecond - 1) / aSecond); recording.Time(slot)*aSecond+middle < to; slot++ {
		if at := s.seconds.at(slot, Seconds, none); at != nil {
			*at = p
		}
		if at := s.minutes.at(slot/60, Minutes, [2]packed{none, none}); at != nil {
			widen(at, p)
		}
	}
}

func pack(v Values) (p packed) {
	for q := range v {
		p[q] = toHalf(v[q])
	}
	return p
}

func (p packed) values() (v Values) {
	for q := range p {
		v[q] = p[q].value()
	}
	return v
}

// widen takes a second into its minute.
func widen(minute *[2]packed, p packed) {
	for q, h := range p {
		v := h.value()
		if v != v {
			continue
		}
		if low := minute[0][q].value(); low != low || v < low {
			minute[0][q] = h
		}
		if high := minute[1][q].value(); high != high || v > high {
			minute[1][q] = h
		}
	}
}

// Event remembers an event; what goes on or ends takes the place of its beginning.
func (s *Stream) Event(e figures.Event) {
	if e.Phase != figures.Instant {
		for i := range s.events {
			if s.events[i].ID == e.ID && s.events[i].Kind == e.Kind {
				s.events[i] = e
				return
			}
		}
	}
	if len(s.events) == Events {
		s.events = slices.Delete(s.events, 0, 1)
	}
	s.events = append(s.events, e)
}

// Events are those that are remembered, as they came.
func (s *Stream) Events() []figures.Event { return s.events }

// Seconds gives one quantity of each second that is remembered, with the second's end, the
// oldest first.
func (s *Stream) Seconds(quantity int, f func(end recording.Time, v float64)) {
	s.seconds.each(func(slot int64, p packed) { f(recording.Time(slot+1)*aSecond, p[quantity].value()) })
}

// Points are the minutes before the seconds that are remembered, then these.
func (s *Stream) Points() []Point {
	out := make([]Point, 0, len(s.minutes.v)+len(s.seconds.v))
	oldest := s.seconds.last - int64(len(s.seconds.v)) + 1
	s.minutes.each(func(slot int64, p [2]packed) {
		if (slot+1)*60 <= oldest {
			out = append(out, Point{recording.Time(slot+1) * 60 * aSecond, p[0].values(), p[1].values()})
		}
	})
	s.seconds.each(func(slot int64, p packed) {
		v := p.values()
		out = append(out, Point{recording.Time(slot+1) * aSecond, v, v})
	})
	return out
}
