package streams

import (
	"math"

	"snag/internal/sorting"
	"snag/recording"
)

// Input is one stream of a running watch, as it stands and as far as it is remembered.
type Input struct {
	Row    Row // without its curve, freezes' seconds and troubles
	State  State
	Since  recording.Time
	Rate   float64 // frames per second of a whole bar of its curve; 0: not known
	T      []recording.Time
	FPS    []float64 // of each second of the curve
	Events []recording.Event
	// Watched reports whether something was measured at a time; asked of streams at several places.
	Watched func(recording.Time) bool
}

// Live makes the data of a running watch's streams, without courses: these are asked for.
func Live(all []Input, hops []recording.StreamHop, window recording.Interval, start recording.Time) *Data {
	var list []*stream
	for _, in := range all {
		list = append(list, in.stream(window, start))
	}
	sorting.StableBy(list, first)
	since := func(t recording.Time) float64 { return seconds(t, start) }
	d := &Data{Rows: []Row{}, Total: len(list), Details: []Detail{}, Groups: groupsOf(list, hops, since), SparkSeconds: window.End.Sub(window.Start).Seconds()}
	for _, s := range list {
		d.Rows = append(d.Rows, s.row)
	}
	return d
}

func (in Input) stream(window recording.Interval, start recording.Time) *stream {
	k := key{in.Row.Name, in.Row.Layer, in.Row.Side}
	s := &stream{seen: &seen{key: k, events: in.Events}, marks: marksOf(in.Events), row: in.Row}
	s.watched, s.hurts = in.Watched, len(hurting(s.marks))
	s.row.ID, s.row.State, s.row.Rank, s.row.Sick = k.id(), in.State.String(), int(in.State), in.State.Sick()
	s.row.Why = reason(s.row.Why)
	s.row.Spark = spark(in.T, in.FPS, window, in.Rate)
	if in.State == Frozen && s.row.Frozen != nil { // the freeze that stands counts too
		frozen := math.Round((*s.row.Frozen+max(window.End.Sub(in.Since).Seconds(), 0))*10) / 10
		s.row.Frozen = &frozen
	}
	if in.Since != 0 {
		at := seconds(in.Since, start)
		s.row.Since = &at
	}
	if m, ok := firstTrouble(s.marks); ok {
		at := seconds(m.at, start)
		s.row.From, s.row.Trouble = &at, m.text
	}
	return s
}

// ID is what a stream is called in links.
func ID(name, layer, side string) string { return key{name, layer, side}.id() }

// Course is what is remembered of a stream: the least and the most of each time.
type Course struct {
	T         []recording.Time
	Low, High [Quantities][]float64
	Threshold float64
	Note      string
}

// Quantities are how many a course has, in the order of Figure's names: late, clock, fps,
// video, audio, gop, gap, skew, lost.
const Quantities = quantities

// Detail is the course of a running watch's stream.
func (c Course) Detail(id string, events []recording.Event, verdicts []Verdict, start recording.Time, most int) Detail {
	s := &stream{marks: marksOf(events)}
	for _, v := range verdicts {
		s.marks = append(s.marks, timed{at: v.Since, kind: "verdict", text: v.Text})
	}
	d := Detail{ID: id, T: []float64{}, Note: c.Note, Figures: band{t: c.T, low: c.Low, high: c.High}.figures()}
	for _, t := range c.T {
		d.T = append(d.T, seconds(t, start))
	}
	if c.Threshold > 0 {
		d.Threshold = measured(c.Threshold)
	}
	d.Marks, d.MoreMarks = s.shown(start, most)
	return d
}

// Measured is a figure of a row: null where it is NaN.
func Measured(v float64) *float64 { return measured(v) }

// NotMeasured is a figure that was not.
var NotMeasured = math.NaN()
