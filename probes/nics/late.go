package nics

import "snag/recording"

// late is a counter that gets a series once it grows, with the value before it:
// most counters of a host never do, and a host has a hundred thousand.
type late struct {
	at      recording.Time
	v       float64
	written bool
}

// sample takes one reading; always asks for a series from the first one. It tells
// whether the counter has a series.
func (l *late) sample(sink recording.Sink, t recording.Time, name string, labels recording.Labels, v float64, always bool) bool {
	if !l.written && (always || l.at != 0 && v != l.v) {
		l.written = true
		if l.at != 0 {
			sink.Sample(l.at, name, labels, l.v)
		}
	}
	l.at, l.v = t, v
	if l.written {
		sink.Sample(t, name, labels, v)
	}
	return l.written
}

// table is a file of counters, a line for each kind and a column for each CPU.
type table struct {
	cells  map[string][]cell // by line
	series int
	most   int
	left   int // cells that grew and have no series, because there are too many
}

type cell struct {
	late
	labels recording.Labels
}

func newTable(most int) *table { return &table{cells: map[string][]cell{}, most: most} }

// line takes one line's readings. labels makes those of a column, once it grows.
// A line whose number of columns changed (a CPU came or went) begins again.
func (tb *table) line(sink recording.Sink, t recording.Time, name, key string, values []uint64, labels func(column int) recording.Labels) {
	cells := tb.cells[key]
	if len(cells) != len(values) {
		cells = make([]cell, len(values))
		tb.cells[key] = cells
	}
	for i, v := range values {
		c := &cells[i]
		grows := !c.written && c.at != 0 && float64(v) != c.v
		if grows && tb.series >= tb.most {
			tb.left++
			c.at, c.v = t, float64(v)
			continue
		}
		if grows {
			tb.series++
			c.labels = labels(i)
		}
		c.sample(sink, t, name, c.labels, float64(v), false)
	}
}
