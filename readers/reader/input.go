package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// headSize is how much of a file's beginning is looked at to tell what it is.
const headSize = 64 << 10

// maxWindow bounds the memory that a zstd file may ask for (its --long=27).
const maxWindow = 128 << 20

// Input is one file, read once from its beginning, unpacked on the way.
type Input struct {
	Path   string
	Packed string // "gzip", "zstd", or "" for a plain file
	Size   int64  // bytes of the file as it lies there; 0 where that is not known (a pipe)

	file *os.File
	read atomic.Int64 // bytes of the file so far
	src  io.Reader
	head []byte
	stop func()
}

// Open opens a file and looks at its beginning. What is packed is told by its
// first bytes, never by its name.
func Open(path string) (*Input, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
	}
	st, err := f.Stat()
	switch {
	case err != nil:
		_ = f.Close()
		return nil, fmt.Errorf("read %s: %w", path, err)
	case st.IsDir():
		_ = f.Close()
		return nil, fmt.Errorf("read %s: it is a folder: give the files in it", path)
	}
	in := &Input{Path: path, file: f, stop: func() {}}
	if st.Mode().IsRegular() {
		in.Size = st.Size()
	}
	if err := in.unpack(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return in, nil
}

func (in *Input) unpack() error {
	raw, err := readHead(counted{in.file, &in.read}, 4)
	if err != nil {
		return err
	}
	plain := io.MultiReader(bytes.NewReader(raw), counted{in.file, &in.read})
	switch {
	case bytes.HasPrefix(raw, []byte{0x1f, 0x8b}): // RFC 1952
		z, err := gzip.NewReader(plain)
		if err != nil {
			return fmt.Errorf("it begins as a gzip file and is none: %w", err)
		}
		in.Packed, in.src = "gzip", z
	case bytes.HasPrefix(raw, []byte{0x28, 0xb5, 0x2f, 0xfd}): // RFC 8878
		z, err := zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return fmt.Errorf("it begins as a zstd file and is none: %w", err)
		}
		in.Packed, in.src, in.stop = "zstd", z, z.Close
	default:
		in.src = plain
	}
	if in.head, err = readHead(in.src, headSize); err != nil {
		return fmt.Errorf("unpack %s: %w", in.Packed, err)
	}
	return nil
}

func readHead(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	n, err := io.ReadFull(r, b)
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // a packed file that is cut here is told when it is read on
	}
	return b[:n], err
}

// Head is the file's beginning, unpacked: at most 64 KiB. It is not consumed.
func (in *Input) Head() []byte { return in.head }

// Done is how much of the file was read so far, packed bytes where it is packed.
func (in *Input) Done() int64 { return in.read.Load() }

// Read gives the unpacked file.
func (in *Input) Read(p []byte) (int, error) {
	if len(in.head) > 0 {
		n := copy(p, in.head)
		in.head = in.head[n:]
		return n, nil
	}
	return in.src.Read(p)
}

// Close ends the reading.
func (in *Input) Close() error {
	in.stop()
	return in.file.Close()
}

type counted struct {
	f *os.File
	n *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.f.Read(p)
	c.n.Add(int64(n))
	return n, err
}
