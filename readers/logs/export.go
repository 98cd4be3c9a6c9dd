package logs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"snag/internal/stamp"
	"snag/readers/reader"
)

// isExport reports what journalctl -o export wrote
// (https://systemd.io/JOURNAL_EXPORT_FORMATS/).
func isExport(head []byte) bool { return bytes.HasPrefix(head, []byte("__CURSOR=")) }

// mostField bytes of a field are kept.
const mostField = 16 << 10

// readExport reads entries of the journal: fields a line each, "NAME=value", or the
// name, eight bytes of length and that many of a value that has line ends; a line with
// nothing ends the entry.
func readExport(ctx context.Context, in *reader.Input, c stamp.Clock, rules []*rule, g *gather) error {
	p := &parser{rules: rules}
	r := bufio.NewReaderSize(in, 256<<10)
	var x exported
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, size, err := field(r)
		x.size += size
		if len(line) == 0 && (err != nil || size > 0) {
			x.end(p, &c, g)
		}
		switch {
		case err != nil:
			return exportError(in, err, x.read)
		case len(line) == 0:
			continue
		}
		x.read += int64(size)
		name, value, text := bytes.Cut(line, []byte("="))
		if !text {
			if value, size, err = binaryField(r); err != nil {
				return exportError(in, err, x.read)
			}
			x.size += size
			x.read += int64(size)
		}
		x.field(name, value)
	}
}

func exportError(in *reader.Input, err error, at int64) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case in.Packed != "":
		return &reader.Torn{Path: in.Path, Packed: in.Packed, Offset: at, Err: err}
	}
	return fmt.Errorf("read %s at byte %d: %w", in.Path, at, err)
}

// field reads a line: its beginning, where it is longer than what is kept.
func field(r *bufio.Reader) (line []byte, size int, err error) {
	for {
		part, err := r.ReadSlice('\n')
		size += len(part)
		if line == nil && err == nil {
			return part[:len(part)-1], size, nil
		}
		line = append(line, part[:min(len(part), max(mostField-len(line), 0))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			if err == nil {
				line = bytes.TrimSuffix(line, []byte("\n"))
			}
			return line, size, err
		}
	}
}

// binaryField reads a value by its length.
func binaryField(r *bufio.Reader) (value []byte, size int, err error) {
	var length [8]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, 0, torn(err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > 1<<40 {
		return nil, 0, fmt.Errorf("a field of %d bytes: the file is damaged", n)
	}
	value = make([]byte, min(n, mostField))
	if _, err := io.ReadFull(r, value); err != nil {
		return nil, 0, torn(err)
	}
	if _, err := io.CopyN(io.Discard, r, int64(n)-int64(len(value))+1); err != nil { // and its line end
		return nil, 0, torn(err)
	}
	return value, int(min(n, 1<<30)) + 9, nil
}

// torn: a file that ends within a field ends.
func torn(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

// exported is one entry of the journal.
type exported struct {
	e       entry
	begun   bool
	message []byte
	size    int
	read    int64
	bytes   []byte // its values
}

func (x *exported) field(name, value []byte) {
	if !x.begun {
		x.e.clear()
		x.begun, x.bytes, x.message = true, x.bytes[:0], nil
	}
	if len(x.bytes)+len(value) > cap(x.bytes) {
		x.bytes = make([]byte, 0, 2*cap(x.bytes)+len(value)+1024) // the old values stay where they are
	}
	from := len(x.bytes)
	x.bytes = append(x.bytes, value[:min(len(value), mostField)]...)
	value = x.bytes[from:]
	switch string(name) {
	case "__REALTIME_TIMESTAMP":
		if us := int64(number(value)); us < math.MaxInt64/1000 { // else it is of no time that there is
			x.e.at = us * 1e3
		}
	case "MESSAGE":
		x.message = value
	case "PRIORITY", "_HOSTNAME", "SYSLOG_IDENTIFIER", "_PID":
		x.e.field(name, value)
	case "_COMM":
		if x.e.process == nil {
			x.e.process = value
		}
	}
}

func (x *exported) end(p *parser, c *stamp.Clock, g *gather) {
	if x.begun {
		x.e.size = int32(min(x.size, 1<<30))
		if x.e.at > 0 && len(x.message) > 0 {
			p.message(c, x.message, x.message, &x.e)
		}
		g.entry(&x.e)
	}
	x.begun, x.size = false, 0
}
