package strace

import (
	"bytes"
	"context"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

// Format is what snag read needs of it.
var Format = reader.Format{
	Name:  "strace",
	About: "what strace wrote (-o, or its standard error)",
	Sniff: Sniff,
	Read:  readInto,

	ReadSet: readSet,
}

func readInto(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	style := styleOf(in.Head())
	t := New(out, Options{PID: o.PID, Find: o.Find, Begin: beginOf(style, o)})
	err := Read(ctx, in, t)
	c := t.End()
	return reader.Told{First: c.First, Last: c.Last, Lines: c.Lines, Foreign: c.Noise, Coverage: t.coverage(style)}, err
}

// readSet reads what strace -ff wrote: a file for each thread.
func readSet(ctx context.Context, in []*reader.Input, o []reader.Options, out recording.Sink) (reader.Told, error) {
	style, files := NoTime, make([]One, len(in))
	for i := range in {
		files[i] = One{in[i], o[i].PID}
		if style == NoTime {
			style = styleOf(in[i].Head())
		}
	}
	begin := beginOf(style, o[0])
	t := New(out, Options{Begin: begin, Find: o[0].Find})
	err := ReadSet(ctx, files, begin, t)
	c := t.End()
	return reader.Told{First: c.First, Last: c.Last, Lines: c.Lines, Foreign: c.Noise, Coverage: t.coverage(style)}, err
}

// beginOf is where a trace begins whose lines don't say, Unix ns: of times of day
// the midnight before the file's last change.
func beginOf(style Style, o reader.Options) int64 {
	day := o.Modified.In(o.Zone)
	if style == TimeOfDay {
		return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, o.Zone).UnixNano()
	}
	return day.UnixNano()
}

// styleOf is how the first line with a time has it.
func styleOf(head []byte) Style {
	var l Line
	for len(head) > 0 {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\n"))
		if l.Parse(line); l.Style != NoTime {
			return l.Style
		}
	}
	return NoTime
}
