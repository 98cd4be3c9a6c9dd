package perf

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"snag/readers/reader"
)

// mostWhole is the most bytes, unpacked, of a file that has to be read whole before it
// can be understood. What it makes of it in memory is several times as much.
const mostWhole = 16 << 20

// twice reads a file two times: first for the names that stand in it anywhere, then for
// the samples that refer to them. A pipe, which gives its bytes once, is kept.
type twice struct {
	in    *reader.Input
	whole []byte // of a pipe; nil
	from  *stream
}

func newTwice(in *reader.Input) (*twice, error) {
	t := &twice{in: in, from: &stream{in: in}}
	if in.Size > 0 && in.Path != reader.Stdin {
		return t, nil
	}
	var err error
	t.whole, err = whole(in)
	return t, err
}

// first is the file.
func (t *twice) first() io.Reader {
	if t.whole != nil {
		return bytes.NewReader(t.whole)
	}
	return t.from
}

// again calls read with the file once more.
func (t *twice) again(ctx context.Context, read func(io.Reader) error) error {
	if t.whole != nil {
		return read(bytes.NewReader(t.whole))
	}
	in, err := reader.Open(t.in.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	defer context.AfterFunc(ctx, in.Interrupt)()
	t.from = &stream{in: in}
	return read(t.from)
}

// torn is why the file could not be read on; nil where that was not why. A file that is
// damaged may be so because it is torn a little further on.
func (t *twice) torn() error {
	if t.from.err == nil && t.whole == nil {
		_, _ = io.CopyN(io.Discard, t.from, mostWhole)
	}
	return t.from.torn()
}

// whole reads all of a file.
func whole(in *reader.Input) ([]byte, error) {
	s := &stream{in: in}
	b, err := io.ReadAll(io.LimitReader(s, mostWhole+1))
	if err != nil {
		return nil, s.torn()
	}
	if len(b) > mostWhole {
		return nil, fmt.Errorf("read %s: it unpacks to more than %d MB, and a pipe gives its bytes but once: put it into a file, and read that", in.Path, mostWhole>>20)
	}
	return b, nil
}
