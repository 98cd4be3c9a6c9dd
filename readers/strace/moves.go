package strace

import (
	"context"

	"snag/readers/reader"
	"snag/recording"
)

// nowhere is a sink for a trace of which only the calls on sockets are wanted.
type nowhere struct{}

func (nowhere) Sample(recording.Time, string, recording.Labels, float64) {}
func (nowhere) Append(recording.Row)                                     {}

// Moves reads a trace, or the files of one that -ff wrote, once more, and tells of each
// call that moved bytes over a socket.
func Moves(ctx context.Context, paths []string, o []reader.Options, moved func(Moved)) error {
	var in []*reader.Input
	defer func() {
		for _, f := range in {
			_ = f.Close()
		}
	}()
	style, files := NoTime, make([]One, len(paths))
	for i, path := range paths {
		f, err := reader.Open(path)
		if err != nil {
			return err
		}
		in = append(in, f)
		files[i] = One{f, o[i].PID}
		if style == NoTime {
			style = styleOf(f.Head())
		}
	}
	begin := beginOf(style, o[0])
	t := New(nowhere{}, Options{PID: o[0].PID, Begin: begin, Moved: moved})
	var err error
	if len(in) == 1 {
		err = Read(ctx, in[0], t)
	} else {
		t.o.PID = 0
		err = ReadSet(ctx, files, begin, t)
	}
	t.End()
	return err
}
