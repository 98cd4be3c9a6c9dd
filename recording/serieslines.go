package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// linePoints keeps a line far below maxLine.
const linePoints = 10_000

// seriesLine is one series in samples.jsonl. Times are milliseconds: the first
// since the epoch, each other since the one before, so that equal steps are
// equal text. Numbers that JSON has not are the strings NaN, +Inf, -Inf.
// A series with many points has several lines.
type seriesLine struct {
	Name   string            `json:"name"`
	Labels Labels            `json:"labels,omitempty"`
	T      []int64           `json:"t_ms"`
	V      []json.RawMessage `json:"v"`
}

func encodeAllSeries(all []Series, count *Written) ([]byte, error) {
	sorted := append([]Series(nil), all...)
	SortSeries(sorted)
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, s := range sorted {
		for points := s.Points; len(points) > 0; {
			n := min(len(points), linePoints)
			l := encodeSeries(Series{s.Name, s.Labels, points[:n]})
			points = points[n:]
			count.Samples += uint64(len(l.T))
			if err := enc.Encode(l); err != nil {
				return nil, fmt.Errorf("series %s: %w", s.Key(), err)
			}
		}
	}
	return buf.Bytes(), nil
}

// encodeSeries writes points one by one; two in one millisecond, which the store
// would not take either, are one.
func encodeSeries(s Series) seriesLine {
	l := seriesLine{Name: s.Name, Labels: s.Labels}
	last := int64(0)
	for i, p := range s.Points {
		ms := millis(p.T)
		if i > 0 && ms <= last {
			continue
		}
		l.T = append(l.T, ms-last)
		last = ms
		l.V = append(l.V, encodeValue(p.V))
	}
	return l
}

func encodeValue(v float64) json.RawMessage {
	switch {
	case math.IsNaN(v):
		return json.RawMessage(`"NaN"`)
	case math.IsInf(v, 1):
		return json.RawMessage(`"+Inf"`)
	case math.IsInf(v, -1):
		return json.RawMessage(`"-Inf"`)
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		if v == 0 && math.Signbit(v) {
			return json.RawMessage("-0")
		}
		return strconv.AppendInt(nil, int64(v), 10)
	}
	b := strconv.AppendFloat(nil, v, 'g', -1, 64)
	// JSON's exponents are as Go's ("1e-07", "1.5e+300").
	return b
}

func decodeValue(b json.RawMessage) (float64, error) {
	s := string(b)
	if len(s) > 2 && s[0] == '"' {
		switch s {
		case `"NaN"`:
			return math.NaN(), nil
		case `"+Inf"`:
			return math.Inf(1), nil
		case `"-Inf"`:
			return math.Inf(-1), nil
		}
		return 0, fmt.Errorf("%s is not a number", cut(s, 40))
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a number", cut(s, 40))
	}
	return v, nil
}

func decodeSeries(all *seriesSet, line []byte) error {
	var l seriesLine
	if err := tooOdd(line); err != nil {
		return err
	}
	if err := decodeRow(line, &l); err != nil {
		return err
	}
	if l.Name == "" {
		return errors.New("a series without a name")
	}
	if len(l.T) != len(l.V) {
		return fmt.Errorf("%d times for %d values", len(l.T), len(l.V))
	}
	points := make([]Point, 0, len(l.T))
	at := int64(0)
	for i, d := range l.T {
		at += d
		v, err := decodeValue(l.V[i])
		if err != nil {
			return err
		}
		points = append(points, Point{fromMillis(at), v})
	}
	if l.Labels == nil {
		l.Labels = Labels{}
	}
	s := all.series(l.Name, l.Labels)
	return all.add(s, points...)
}
