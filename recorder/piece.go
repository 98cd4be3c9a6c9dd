package recorder

import (
	"fmt"
	"strings"
	"time"

	"snag/recording"
)

// Piece is one recording of a ring.
type Piece struct {
	Name       string // file name, or folder name while it is being written
	Start, End recording.Time
	// Step is the distance of samples: 1 s, more after downsampling.
	Step time.Duration
	Size int64 // bytes
	// Open: it is being written, or its writer was killed. End is unknown then.
	Open bool
}

const (
	suffix     = ".snag"
	openSuffix = "-open"
	stamp      = "20060102T150405.000Z"
)

// nameOf is a piece's file name. It contains the time range and the step; names sort by time.
func nameOf(start, end recording.Time, step time.Duration) string {
	return fmt.Sprintf("%s-%s-%s%s", start.Wall().Format(stamp), end.Wall().Format(stamp), step, suffix)
}

func openName(start recording.Time) string { return start.Wall().Format(stamp) + openSuffix }

// parse is the reverse of nameOf and openName; false: not the name of a piece.
func parse(name string) (Piece, bool) {
	p := Piece{Name: name}
	if at, ok := strings.CutSuffix(name, openSuffix); ok {
		p.Open, p.Step = true, time.Second
		start, err := time.Parse(stamp, at)
		p.Start = recording.Time(start.UnixNano())
		return p, err == nil
	}
	at, ok := strings.CutSuffix(name, suffix)
	parts := strings.Split(at, "-")
	if !ok || len(parts) != 3 {
		return p, false
	}
	start, err1 := time.Parse(stamp, parts[0])
	end, err2 := time.Parse(stamp, parts[1])
	step, err3 := time.ParseDuration(parts[2])
	p.Start, p.End, p.Step = recording.Time(start.UnixNano()), recording.Time(end.UnixNano()), step
	return p, err1 == nil && err2 == nil && err3 == nil && end.After(start) && step > 0
}
