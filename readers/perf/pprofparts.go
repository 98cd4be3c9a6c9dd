package perf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/google/pprof/profile"
)

// A profile of pprof is one message (proto/profile.proto), whose fields may stand in any
// order: most of a large one are its samples, and the names that they refer to stand
// behind them. So it is read twice: first all but the samples, then these, some at a time,
// each lot with the names before it, as one message. Joined messages are one message
// (protobuf.dev/programming-guides/encoding, "Last One Wins").

// Bounds, bytes: what the parser makes of them in memory is several times as much.
const (
	mostPprofNames = 12 << 20
	pprofLot       = 4 << 20
)

// pprofSample is the number of the field with a sample.
const pprofSample = 2

// errPprofNames says what to do with a profile of a whole fleet.
var errPprofNames = fmt.Errorf("its functions, their places and names have more than %d MB: make folded stacks of it (go tool pprof -raw, or stackcollapse), and read those", mostPprofNames>>20)

// pprofNames reads all fields but samples.
func pprofNames(r io.Reader) ([]byte, error) {
	var names []byte
	err := pprofFields(r, func(number uint64, head []byte, in *bufio.Reader, n int) error {
		if number == pprofSample {
			_, err := in.Discard(n)
			return err
		}
		if len(names)+len(head)+n > mostPprofNames {
			return errPprofNames
		}
		var err error
		names, err = appendField(names, head, in, n)
		return err
	})
	return names, err
}

// pprofSamples calls use with all samples, some at a time.
func pprofSamples(r io.Reader, names []byte, use func(*profile.Profile)) error {
	lot := append(make([]byte, 0, len(names)+pprofLot), names...)
	flush := func() error {
		if len(lot) == len(names) {
			return nil
		}
		p, err := parsePprof(lot)
		if err != nil {
			return err
		}
		use(p)
		lot = lot[:len(names)]
		return nil
	}
	err := pprofFields(r, func(number uint64, head []byte, in *bufio.Reader, n int) error {
		if number != pprofSample {
			_, err := in.Discard(n)
			return err
		}
		if n > pprofLot {
			return fmt.Errorf("a sample of %d bytes", n)
		}
		if len(lot)-len(names)+n > pprofLot {
			if err := flush(); err != nil {
				return err
			}
		}
		var err error
		lot, err = appendField(lot, head, in, n)
		return err
	})
	return errors.Join(err, flush())
}

func appendField(to, head []byte, in *bufio.Reader, n int) ([]byte, error) {
	to = append(to, head...)
	from := len(to)
	to = append(to, make([]byte, n)...)
	_, err := io.ReadFull(in, to[from:])
	return to, err
}

// pprofFields calls field with each field of a message: its number, the bytes before its
// content, and how many bytes that has, which field must read.
func pprofFields(r io.Reader, field func(number uint64, head []byte, in *bufio.Reader, n int) error) error {
	const varint, fixed64, bytes, fixed32 = 0, 1, 2, 5
	in := bufio.NewReaderSize(r, 64<<10)
	var head []byte
	for {
		tag, err := binary.ReadUvarint(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		head = binary.AppendUvarint(head[:0], tag)
		var n uint64
		switch tag & 7 {
		case varint:
			v, err := binary.ReadUvarint(in)
			if err != nil {
				return noEOF(err)
			}
			head = binary.AppendUvarint(head, v)
		case fixed64:
			n = 8
		case fixed32:
			n = 4
		case bytes:
			if n, err = binary.ReadUvarint(in); err != nil {
				return noEOF(err)
			}
			if n > 1<<30 {
				return fmt.Errorf("a field of %d bytes", n)
			}
			head = binary.AppendUvarint(head, n)
		default:
			return fmt.Errorf("a field of a kind that there is not: %d", tag&7)
		}
		if err := field(tag>>3, head, in, int(n)); err != nil {
			return noEOF(err)
		}
	}
}

// noEOF makes an end within a field an error.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
