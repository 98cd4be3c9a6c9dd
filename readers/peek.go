package readers

import (
	"bytes"
	"context"
	"io"
	"os"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

// peekSize is how much of a file's end is looked at.
const peekSize = 64 << 10

// nowhere takes rows and keeps none.
type nowhere struct{}

func (nowhere) Sample(recording.Time, string, recording.Labels, float64) {}
func (nowhere) Append(recording.Row)                                     {}

// peek learns of a file's beginning and end what times they have, by reading these
// with its format twice: a time that moves with the zone has none of its own.
func peek(ctx context.Context, f file) written {
	w := written{modified: recording.Time(f.opt.Modified.UnixNano())}
	head := f.in.Head()
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	first, zoneless, host, ok := timesOf(ctx, f, head)
	w.host = host
	if !ok || !zoneless {
		w.first, w.last = first.Start, first.End
		return w
	}
	w.zoneless, w.first = true, first.Start
	if tail := endOf(f.in); tail != nil {
		if last, _, _, ok := timesOf(ctx, f, tail); ok {
			w.last = last.End
		}
	}
	return w
}

// timesOf reads a piece of a file in UTC, and in another zone.
func timesOf(ctx context.Context, f file, piece []byte) (span recording.Interval, zoneless bool, host string, ok bool) {
	var at [2]reader.Told
	for i, zone := range []*time.Location{time.UTC, time.FixedZone("", 3600)} {
		opt := f.opt
		opt.Zone = zone
		// What can't be read of a piece says nothing of the file.
		at[i], _ = f.format.Read(ctx, reader.Bytes(f.in.Path, bytes.Clone(piece)), opt, nowhere{})
	}
	span = recording.Interval{Start: at[0].First, End: at[0].Last}
	return span, at[0].First != at[1].First, at[0].Host, at[0].First != 0
}

// endOf is the end of a plain file, from a line's beginning; nil where it can't be had.
func endOf(in *reader.Input) []byte {
	if in.Packed != "" || in.Size == 0 {
		return nil
	}
	f, err := os.Open(in.Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	from := max(0, in.Size-peekSize)
	b, err := io.ReadAll(io.NewSectionReader(f, from, peekSize))
	if err != nil {
		return nil
	}
	if from > 0 {
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	return b
}
