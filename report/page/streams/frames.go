package streams

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"snag/recording"
)

// Frames are the single frames of streams (snag watch --frames), as far as a page draws
// them: how much later than the least of the last minute each came.
type Frames struct {
	window recording.Interval
	by     map[string]*frameLog
}

const (
	mostFrames  = 3000 // of one stream; more are drawn as the least and the most of a step
	longestLine = 64 << 10
	minute      = 60 // seconds
)

// frameLog is one stream's. It keeps frames until they are too many, and steps from the
// beginning on, so that any number of frames takes as much memory.
type frameLog struct {
	t           []recording.Time
	late        []float64
	low, high   [mostFrames]float64 // by step of the window; NaN: no frame
	least       [minute]float64     // of each second of the last minute: arrival less DTS
	at          [minute]int64       // which second that is
	lastArrival recording.Time
	lastDTS     float64
}

// ReadFrames reads the lines of snag watch --frames of the streams that are called so. path
// names the file in errors.
func ReadFrames(r io.Reader, path string, window recording.Interval, names map[string]bool) (*Frames, error) {
	f := &Frames{window: window, by: map[string]*frameLog{}}
	lines := bufio.NewReaderSize(r, longestLine)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) { // what is left is a line that was cut off
			return f, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the frames: %s line %d: %w: name a file of snag watch --frames", path, n, err)
		}
		var one struct {
			Stream  *string        `json:"stream"`
			Arrival recording.Time `json:"arrival"`
			DTS     float64        `json:"dts"`
			Media   string         `json:"media_type"`
		}
		if err := json.Unmarshal(bytes.TrimSpace(line), &one); err != nil || one.Stream == nil {
			return nil, fmt.Errorf("read the frames: %s line %d is not a line of snag watch --frames: name a file that it wrote", path, n)
		}
		if one.Media == "video" && names[*one.Stream] {
			f.add(*one.Stream, one.Arrival, one.DTS)
		}
	}
}

// Empty reports whether there is no frame that a page could draw.
func (f *Frames) Empty() bool { return len(f.by) == 0 }

func (f *Frames) add(name string, arrival recording.Time, dts float64) {
	if arrival < f.window.Start || arrival > f.window.End || math.Abs(dts) > 1e9 {
		return
	}
	l := f.by[name]
	if l == nil {
		l = &frameLog{}
		for i := range l.low {
			l.low[i], l.high[i] = nan, nan
		}
		f.by[name] = l
	}
	late := l.lateness(arrival, dts)
	step := int(float64(arrival-f.window.Start) / float64(max(f.window.End-f.window.Start, 1)) * (mostFrames - 1))
	if v := l.low[step]; math.IsNaN(v) || late < v {
		l.low[step] = late
	}
	if v := l.high[step]; math.IsNaN(v) || late > v {
		l.high[step] = late
	}
	if len(l.t) <= mostFrames {
		l.t, l.late = append(l.t, arrival), append(l.late, late)
	}
}

// lateness is arrival less DTS over the least of the last minute. It begins anew where the
// timestamps go back, or nothing came for a minute; where they jump ahead there is a new least.
func (l *frameLog) lateness(arrival recording.Time, dts float64) float64 {
	moved, passed := dts-l.lastDTS, arrival.Sub(l.lastArrival)
	if l.lastArrival == 0 || moved < 0 || passed > minute*time.Second || passed < 0 {
		l.at = [minute]int64{}
	}
	l.lastArrival, l.lastDTS = arrival, dts
	second := int64(arrival)/1e9 + 1 // 0 is none
	v := arrival.Seconds() - dts
	place := second % minute
	if l.at[place] != second || v < l.least[place] {
		l.at[place], l.least[place] = second, v
	}
	least := v
	for i, at := range l.at {
		if at > second-minute && at != 0 {
			least = min(least, l.least[i])
		}
	}
	return v - least
}

// course is how late each frame came, or where there are too many the least and the most of
// each step; nil where there is none.
func (f *Frames) course(name string, start recording.Time) *FrameCourse {
	if f == nil || f.by[name] == nil {
		return nil
	}
	l, c := f.by[name], &FrameCourse{T: []float64{}, Late: []float64{}}
	if len(l.t) <= mostFrames {
		l.single(c, start)
		return c
	}
	width := float64(f.window.End-f.window.Start) / (mostFrames - 1)
	c.Most = []float64{}
	for i := range l.low {
		if !math.IsNaN(l.low[i]) {
			c.T = append(c.T, milliseconds(f.window.Start+recording.Time(width*(float64(i)+0.5)), start))
			c.Late, c.Most = append(c.Late, shortened(l.low[i])), append(c.Most, shortened(l.high[i]))
		}
	}
	return c
}

// single gives each frame; those that came within one millisecond are one time, with the
// least and the most of them.
func (l *frameLog) single(c *FrameCourse, start recording.Time) {
	var most []float64
	for i, t := range l.t {
		at, late := milliseconds(t, start), shortened(l.late[i])
		if n := len(c.T) - 1; n >= 0 && at <= c.T[n] {
			c.Late[n], most[n] = min(c.Late[n], late), max(most[n], late)
			c.Most = most
			continue
		}
		c.T, c.Late, most = append(c.T, at), append(c.Late, late), append(most, late)
	}
	if c.Most != nil {
		c.Most = most
	}
}

func milliseconds(t, start recording.Time) float64 {
	return math.Round(t.Sub(start).Seconds()*1000) / 1000
}
