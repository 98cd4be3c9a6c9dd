package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
)

// chunkSize is how much of a file is parsed at a time: little enough that what is made
// of it is still in a CPU's cache when it is used. A longer line gets a longer piece,
// up to lineSize: what is longer is cut there.
const (
	chunkSize = 256 << 10
	lineSize  = 1 << 20
)

// Chunk is a piece of a file that begins at a line's beginning and ends at a
// line's end. Data is valid until its result was used.
type Chunk struct {
	Data   []byte
	Offset int64 // of its first byte in the unpacked file
	// Cut is set where the last line is not whole: it is longer than a chunk, and the
	// Skipped bytes after Data are the rest of it; or the file ends in it (Last).
	Cut     bool
	Skipped int64
	Last    bool
}

type job[T any] struct {
	chunk Chunk
	buf   []byte
	done  chan T
}

// mostWorkers parse at the same time, whatever the machine has: more wait for what
// uses their results, and each holds a piece and what it made of it.
const mostWorkers = 6

// EachChunk reads a file in pieces, has parse work on several at a time, and
// hands what it made of them to use, in the file's order. It holds one piece for
// each worker and two more. An error of the file itself (a torn gzip) comes after
// all that could be read was used; when ctx ends, what was read until then is
// used, and the error is the context's.
func EachChunk[T any](ctx context.Context, in *Input, parse func(Chunk) T, use func(T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, in.Interrupt)() // it may wait for a pipe
	workers := min(runtime.GOMAXPROCS(0), mostWorkers)
	free := make(chan []byte, workers+2)
	for range cap(free) {
		free <- nil
	}
	order, work := make(chan *job[T], cap(free)), make(chan *job[T], cap(free))
	for range workers {
		go func() {
			for j := range work {
				j.done <- parse(j.chunk)
			}
		}()
	}
	var readErr error
	go func() {
		defer close(order)
		defer close(work)
		readErr = split(ctx, in, free, func(c Chunk, buf []byte) {
			j := &job[T]{c, buf, make(chan T, 1)}
			order <- j // never blocks: there are no more jobs than buffers
			work <- j
		})
	}()
	for j := range order {
		t := <-j.done
		if err := use(t); err != nil {
			cancel()
			for range order { // until the reading has ended
			}
			return err
		}
		free <- j.buf
	}
	return readErr
}

// split cuts the file at line ends.
func split(ctx context.Context, in *Input, free chan []byte, give func(Chunk, []byte)) error {
	var rest []byte // the beginning of a line whose end is in the next piece
	var offset int64
	for {
		var buf []byte
		select {
		case <-ctx.Done():
			return ctx.Err()
		case buf = <-free:
		}
		if buf == nil {
			buf = make([]byte, chunkSize)
		}
		if len(rest) > len(buf) { // it was cut off a longer piece
			buf = make([]byte, lineSize)
		}
		n := copy(buf, rest)
		m, err := fill(in, buf[n:])
		n += m
		end := bytes.LastIndexByte(buf[:n], '\n') + 1
		if end == 0 && err == nil && len(buf) < lineSize {
			buf = append(buf, make([]byte, lineSize-len(buf))...)
			m, err = fill(in, buf[n:])
			n += m
			end = bytes.LastIndexByte(buf[:n], '\n') + 1
		}
		c := Chunk{Data: buf[:end], Offset: offset}
		switch {
		case err != nil:
			c.Data, c.Last, c.Cut = buf[:n], true, end < n
		case end == 0: // a line longer than a piece
			c.Data, c.Cut = buf[:n], true
			rest, c.Skipped, err = skipLine(in)
		default:
			rest = append(rest[:0], buf[end:n]...)
		}
		offset += int64(len(c.Data)) + c.Skipped
		c.Last = c.Last || err != nil
		if len(c.Data) > 0 || c.Last {
			give(c, buf)
		} else {
			free <- buf
		}
		if err != nil {
			return readError(in, err, offset)
		}
	}
}

func fill(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	return n, err
}

// skipLine reads up to a line's end and returns what came behind it.
func skipLine(in *Input) (rest []byte, skipped int64, err error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return buf[i+1 : n], skipped + int64(i) + 1, nil // an error comes again with the next Read
		}
		skipped += int64(n)
		if err != nil {
			return nil, skipped, err
		}
		if n > 0 && buf[0] == 0 && buf[n-1] == 0 {
			skipped += in.SkipHole()
		}
	}
}

// readError is what an error of Input.Read means at that byte of the unpacked
// file; io.EOF is none.
func readError(in *Input, err error, offset int64) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, context.Canceled):
		return err
	}
	return &Torn{in.Path, in.Packed, offset, cause(err)}
}

// Torn is a file that can't be read or unpacked to its end. What came before was
// read.
type Torn struct {
	Path   string
	Packed string // "" for a plain file
	Offset int64  // in the unpacked file
	Err    error
}

func (t *Torn) Error() string {
	if t.Packed == "" {
		return fmt.Sprintf("read %s: it can't be read further than byte %d (%v)", t.Path, t.Offset, t.Err)
	}
	what := "are damaged"
	if errors.Is(t.Err, io.ErrUnexpectedEOF) {
		what = "are cut off"
	}
	return fmt.Sprintf("read %s: its %s data %s after %d unpacked bytes (%v)", t.Path, t.Packed, what, t.Offset, t.Err)
}

func (t *Torn) Unwrap() error { return t.Err }
