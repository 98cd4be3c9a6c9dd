package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Magic words.
var (
	magic    = []byte("PERFILE2")
	magicBig = []byte("2ELIFREP") // of a big-endian host
	magicOld = []byte("PERFFILE")
)

// Is tells perf.data by its beginning.
func Is(head []byte) bool {
	return bytes.HasPrefix(head, magic) || bytes.HasPrefix(head, magicBig) || bytes.HasPrefix(head, magicOld)
}

// ErrForeign is of files that this reader can't read at all.
var ErrForeign = errors.New("perf.data of a form that snag does not read")

// Bounds of what stands before the data.
const (
	mostBefore = 8 << 20
	mostAttrs  = 4096
	mostIDs    = 1 << 20
)

const (
	headerSize = 104 // struct perf_file_header
	pipeSize   = 16  // struct perf_pipe_file_header
)

// span is a struct perf_file_section.
type span struct{ offset, size uint64 }

func spanAt(b []byte) span {
	return span{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

// File is a perf.data that is being read.
type File struct {
	Attrs []*Attr
	// Pipe: it was written to a pipe (perf record -o -), and describes itself as it
	// goes.
	Pipe bool
	// Features are what perf knew of the host: of a pipe as far as it has told them, of a
	// file once ReadFeatures was called.
	Features Features
	// Unended: perf did not get to write how much it recorded.
	Unended bool

	data     span
	features [4]uint64
	byID     map[uint64]*Attr
}

// Open reads what stands before the records.
func Open(r io.Reader) (*File, error) {
	var raw [headerSize]byte
	if _, err := io.ReadFull(r, raw[:pipeSize]); err != nil {
		return nil, fmt.Errorf("its header is not whole: %w", err)
	}
	switch {
	case bytes.Equal(raw[:8], magicBig):
		return nil, fmt.Errorf("%w: it is of a big-endian host", ErrForeign)
	case !bytes.Equal(raw[:8], magic):
		return nil, fmt.Errorf("%w: it is of a perf from before 2011", ErrForeign)
	}
	f := &File{byID: map[uint64]*Attr{}}
	switch size := binary.LittleEndian.Uint64(raw[8:]); {
	case size == pipeSize:
		f.Pipe = true
		return f, nil
	case size < headerSize-32 || size > 4096:
		return nil, fmt.Errorf("%w: its header says that it has %d bytes", ErrForeign, size)
	}
	if _, err := io.ReadFull(r, raw[pipeSize:]); err != nil {
		return nil, fmt.Errorf("its header is not whole: %w", err)
	}
	attrs := spanAt(raw[24:])
	f.data = spanAt(raw[40:])
	for i := range f.features {
		f.features[i] = binary.LittleEndian.Uint64(raw[72+8*i:])
	}
	f.Unended = f.data.size == 0
	if f.data.offset < headerSize || f.data.offset > mostBefore {
		return nil, fmt.Errorf("%w: its records begin at byte %d", ErrForeign, f.data.offset)
	}
	before := make([]byte, f.data.offset)
	copy(before, raw[:])
	if _, err := io.ReadFull(r, before[headerSize:]); err != nil {
		return nil, fmt.Errorf("it ends before its records: %w", err)
	}
	return f, f.readAttrs(before, attrs, binary.LittleEndian.Uint64(raw[16:]))
}

// readAttrs reads the events and their ids, which stand before the records.
func (f *File) readAttrs(before []byte, all span, each uint64) error {
	b, ok := cut(before, all)
	if !ok || each < leastAttr+16 || each > 4096 || uint64(len(b)) < each || uint64(len(b))/each > mostAttrs {
		return fmt.Errorf("%w: the descriptions of its events do not stand before its records", ErrForeign)
	}
	for ; uint64(len(b)) >= each; b = b[each:] {
		a, err := parseAttr(b[:each-16])
		if err != nil {
			return fmt.Errorf("%w: %w", ErrForeign, err)
		}
		ids, ok := cut(before, spanAt(b[each-16:]))
		if !ok {
			return fmt.Errorf("%w: the ids of its events do not stand before its records", ErrForeign)
		}
		f.add(a, ids)
	}
	return nil
}

// add knows an event by its ids.
func (f *File) add(a Attr, ids []byte) {
	if len(f.Attrs) >= mostAttrs {
		return
	}
	p := &a
	f.Attrs = append(f.Attrs, p)
	for ; len(ids) >= 8 && len(f.byID) < mostIDs; ids = ids[8:] {
		id := binary.LittleEndian.Uint64(ids)
		p.ids = append(p.ids, id)
		f.byID[id] = p
	}
}

// attrOf is the event of a sample.
func (f *File) attrOf(b []byte) *Attr {
	if len(f.Attrs) == 0 {
		return nil
	}
	first := f.Attrs[0]
	at := first.idAt()
	if len(f.Attrs) == 1 || at < 0 || len(b) < at+8 {
		return first
	}
	return f.byID[binary.LittleEndian.Uint64(b[at:])]
}

func cut(b []byte, s span) ([]byte, bool) {
	if s.offset > uint64(len(b)) || s.size > uint64(len(b))-s.offset {
		return nil, false
	}
	return b[s.offset : s.offset+s.size], true
}
