package reader

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// HeadSize is how much of a file's beginning is looked at to tell what it is.
const HeadSize = 64 << 10

// maxWindow bounds the memory that a zstd file may ask for: what zstd -d gives
// without being asked (up to -22, and --long). Files of zstd -19 and below ask for
// 8 MiB or less.
const maxWindow = 128 << 20

// Stdin is the path of standard input.
const Stdin = "-"

// Input is one file, read once from its beginning, unpacked on the way.
type Input struct {
	Path     string
	Packed   string    // "gzip", "zstd", or "" for a plain file
	Size     int64     // bytes of the file as it lay there when it was opened; 0 where that is not known (a pipe)
	Modified time.Time // when it was last written; of a pipe, when it was opened

	raw      *raw
	src      io.Reader
	head     []byte
	unpacked int64 // bytes given by Read
	err      error // the first of Read that is not the end
	stop     func()
}

// Open opens a file and looks at its beginning. What is packed is told by its
// first bytes, never by its name.
func Open(path string) (*Input, error) { return OpenHead(path, HeadSize) }

// OpenHead is Open with a look at less of the file's beginning: a thousand files
// of one set are open at the same time.
func OpenHead(path string, head int) (*Input, error) {
	f := os.Stdin
	if path != Stdin {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, cure(cause(err)))
		}
	}
	st, err := f.Stat()
	switch {
	case err != nil:
		_ = f.Close()
		return nil, fmt.Errorf("read %s: %w", path, cause(err))
	case st.IsDir():
		_ = f.Close()
		return nil, fmt.Errorf("read %s: it is a folder: give the files in it", path)
	}
	in := &Input{Path: path, Modified: st.ModTime(), raw: newRaw(f), stop: func() {}}
	if st.Mode().IsRegular() {
		in.Size = st.Size()
		in.raw.bound(st.Size())
	} else {
		in.raw.ahead()
	}
	if err := in.unpack(head); err != nil {
		_ = in.Close()
		return nil, fmt.Errorf("read %s: %w", path, cause(err))
	}
	return in, nil
}

// cure adds what helps to an error of open(2).
func cure(err error) error {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("%w: raise the limit (ulimit -n 65536)", err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w: run snag as a user who may read it, or copy it", err)
	}
	return err
}

func (in *Input) unpack(size int) error {
	magic, err := readHead(in.raw, 4)
	if err != nil {
		return err
	}
	plain := io.MultiReader(bytes.NewReader(magic), in.raw)
	packed := func() io.Reader { return bufio.NewReaderSize(plain, 128<<10) }
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}): // RFC 1952
		z, err := gzip.NewReader(packed())
		if err != nil {
			return fmt.Errorf("it begins as a gzip file and is none: %w", err)
		}
		in.Packed, in.src = "gzip", z
	case isZstd(magic):
		z, err := zstd.NewReader(packed(), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return fmt.Errorf("it begins as a zstd file and is none: %w", err)
		}
		in.Packed, in.src, in.stop = "zstd", z, z.Close
	default:
		in.src = plain
	}
	if in.head, err = readHead(in.src, size); err != nil {
		if in.Packed == "" {
			return err
		}
		if len(in.head) == 0 {
			return fmt.Errorf("its %s data are damaged from the beginning: %w", in.Packed, err)
		}
		in.src = failed{err} // told when it is read on
	}
	return nil
}

// isZstd tells a frame, or a skippable one, as pzstd begins with (RFC 8878, 3.1).
func isZstd(magic []byte) bool {
	return bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(magic) == 4 && magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:], []byte{0x2a, 0x4d, 0x18})
}

// failed is what comes behind the beginning of a file that could not be unpacked
// further.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// readHead reads n bytes, or what there is.
func readHead(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	n, err := fill(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // a packed file that is cut here is told when it is read on
	}
	if n < len(b)/2 {
		return bytes.Clone(b[:n]), err // many files are small
	}
	return b[:n], err
}

// Head is the file's beginning, unpacked: at most 64 KiB. It is not consumed.
func (in *Input) Head() []byte { return in.head }

// Done is how much of the file was read so far, packed bytes where it is packed.
func (in *Input) Done() int64 { return in.raw.done.Load() }

// Unpacked is how much Read gave so far.
func (in *Input) Unpacked() int64 { return in.unpacked }

// Interrupt ends the reading: a Read that waits for a pipe, and every later one,
// fails with context.Canceled. Safe for concurrent use.
func (in *Input) Interrupt() { in.raw.interrupt() }

// Changed says how the file changed while it was read, a sentence without its
// name; "" where it did not, or where that can't be told.
func (in *Input) Changed() string { return in.raw.changed() }

// Read gives the unpacked file.
func (in *Input) Read(p []byte) (int, error) {
	if len(in.head) > 0 {
		n := copy(p, in.head)
		in.head = in.head[n:]
		in.unpacked += int64(n)
		return n, nil
	}
	in.head = nil
	n, err := in.src.Read(p)
	in.unpacked += int64(n)
	if err != nil && in.err == nil && !errors.Is(err, io.EOF) {
		in.err = readError(in, err, in.unpacked)
	}
	return n, err
}

// Err is what kept the file from being read to its end: a *Torn, or
// context.Canceled; nil where nothing did. Not every format passes it on.
func (in *Input) Err() error { return in.err }

// SkipHole passes over the hole of a sparse file that the reading is in, and gives
// its length: it holds no line's end, and the kernel would make it into memory.
func (in *Input) SkipHole() int64 {
	if in.Packed != "" || in.raw.size == 0 {
		return 0
	}
	n := in.raw.skipHole()
	in.unpacked += n
	return n
}

// Close ends the reading. No Read may be going on.
func (in *Input) Close() error {
	in.raw.interrupt()
	in.stop()
	return in.raw.file.Close()
}
