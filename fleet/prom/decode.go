package prom

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"snag/internal/shown"
)

// mostAnswer is how long an answer is at most, in bytes, unpacked: more than a million series.
var mostAnswer = 256 << 20

// limited fails where an answer is too long, so that it does not pass for one that was cut off.
type limited struct {
	r    io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("it is longer than %d MB: ask for fewer hosts, as --hosts 'role=\"edge\"'", mostAnswer>>20)
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// reading takes an answer apart as it comes: of a large one only the samples are kept.
type reading struct {
	d                      *json.Decoder
	status, kind, text, is string // status, errorType, error, resultType
	out                    Answer
	strings                map[string]string // each label value once
	bad                    error             // of a sample
}

func decode(r io.Reader) (Answer, error) {
	x := reading{d: json.NewDecoder(r), strings: map[string]string{}}
	if err := x.object(x.top); err != nil {
		return Answer{}, fmt.Errorf("its answer can't be read: %w", err)
	}
	switch {
	case x.status == "error":
		return Answer{}, &refusal{x.kind, x.text}
	case x.status != "success" || x.is != "vector":
		return Answer{}, errors.New("its answer is no vector")
	case x.bad != nil:
		return Answer{}, x.bad
	}
	return x.out, nil
}

// object hands each key of an object to read, which reads its value.
func (x *reading) object(read func(key string) error) error {
	if err := x.open('{'); err != nil {
		return err
	}
	for x.d.More() {
		key, err := x.d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if err := read(name); err != nil {
			return err
		}
	}
	_, err := x.d.Token()
	return err
}

func (x *reading) open(want json.Delim) error {
	token, err := x.d.Token()
	if err != nil {
		return err
	}
	if token != want {
		return fmt.Errorf("%v is no %s", shown.Cut(shown.Text(fmt.Sprint(token)), 40), want)
	}
	return nil
}

func (x *reading) top(key string) error {
	switch key {
	case "status":
		return x.d.Decode(&x.status)
	case "errorType":
		return x.d.Decode(&x.kind)
	case "error":
		return x.d.Decode(&x.text)
	case "warnings":
		var all []string
		err := x.d.Decode(&all)
		for _, text := range all {
			x.out.Warnings = append(x.out.Warnings, shown.Cut(shown.Text(text), 200))
		}
		return err
	case "data":
		return x.object(x.data)
	}
	return x.d.Decode(new(json.RawMessage))
}

func (x *reading) data(key string) error {
	switch key {
	case "resultType":
		return x.d.Decode(&x.is)
	case "result":
		if err := x.open('['); err != nil {
			return err
		}
		for x.d.More() {
			if err := x.sample(); err != nil {
				return err
			}
		}
		_, err := x.d.Token()
		return err
	}
	return x.d.Decode(new(json.RawMessage))
}

// sample reads one series. A value that is none is noted: what is no vector has others.
func (x *reading) sample() error {
	var s struct {
		Metric map[string]string  `json:"metric"`
		Value  [2]json.RawMessage `json:"value"`
	}
	if err := x.d.Decode(&s); err != nil {
		return err
	}
	var seconds float64
	var text string
	if json.Unmarshal(s.Value[0], &seconds) != nil || json.Unmarshal(s.Value[1], &text) != nil {
		x.bad = errors.New("its answer has a value that can't be read")
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) {
		return nil // a rate of nothing
	}
	for name, value := range s.Metric {
		s.Metric[x.once(name)] = x.once(value)
	}
	x.out.Samples = append(x.out.Samples, Sample{Labels: s.Metric, Value: v, At: time.UnixMilli(int64(1000 * seconds))})
	return nil
}

// once is the same text, of which only one is kept.
func (x *reading) once(s string) string {
	if kept, ok := x.strings[s]; ok {
		return kept
	}
	x.strings[s] = s
	return s
}
