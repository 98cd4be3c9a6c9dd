package wal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/golang/snappy"
)

// maxRecord bounds a record once it is decompressed, bytes: the first samples of 50,000 series take a quarter of it.
const maxRecord = 32 << 20

var (
	errTorn  = errors.New("the last record is torn")
	errOrder = errors.New("fragments of a record in a wrong order")
	errOther = errors.New("a record that is compressed as snag compresses none")
	errLong  = fmt.Errorf("a record of over %d bytes: snag's have at most that", maxRecord)
)

// Read reads a segment, record by record. A record is valid until each returns. Its error ends the reading, as does
// the first damage: what came before was handed over. No record takes more than 32 MB, whatever a file claims.
func Read(segment io.Reader, each func(rec []byte) error) error {
	r := reader{in: bufio.NewReaderSize(segment, 16*pageSize)}
	for {
		rec, err := r.record()
		switch {
		case errors.Is(err, io.EOF): // between two records
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errTorn
		case err != nil:
			return err
		}
		if err := each(rec); err != nil {
			return err
		}
	}
}

type reader struct {
	in     *bufio.Reader
	at     int64 // bytes read
	rec    []byte
	packed []byte
}

// record returns the next record.
func (r *reader) record() ([]byte, error) {
	whole, flags := r.packed[:0], byte(0)
	for first := true; ; first = false {
		kind, body, err := r.fragment(len(whole))
		if errors.Is(err, io.EOF) && !first {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		if first {
			flags = kind &^ typeMask
		}
		switch t := kind & typeMask; {
		case kind&^typeMask != flags:
			return nil, errOther
		case first != (t == typeFull || t == typeFirst):
			return nil, errOrder
		case first && flags&flagSnappy != 0 && !bounded(body):
			return nil, errLong
		}
		whole = append(whole, body...)
		r.packed = whole
		if t := kind & typeMask; t == typeFull || t == typeLast {
			break
		}
	}
	if flags&flagSnappy == 0 {
		return whole, nil
	}
	var err error
	r.rec, err = snappy.Decode(r.rec[:cap(r.rec)], whole)
	return r.rec, err
}

// bounded reports whether a block of snappy, which begins with its length once decompressed, is within the bound.
func bounded(packed []byte) bool {
	n, ok := binary.Uvarint(packed)
	return ok > 0 && n <= maxRecord
}

// fragment returns the next fragment of a record that has so many bytes already. io.EOF: there is none.
func (r *reader) fragment(already int) (kind byte, body []byte, err error) {
	for {
		if kind, err = r.in.ReadByte(); err != nil {
			return 0, nil, err
		}
		r.at++
		if kind&typeMask != typePad {
			break
		}
		if err := r.padding(); err != nil {
			return 0, nil, err
		}
	}
	var head [headSize - 1]byte
	if err := r.full(head[:]); err != nil {
		return 0, nil, err
	}
	size := int(binary.BigEndian.Uint16(head[:]))
	switch {
	case kind&typeMask > typeLast:
		return 0, nil, fmt.Errorf("a fragment of type %d, which there is not", kind&typeMask)
	case kind&^(typeMask|flagSnappy) != 0:
		return 0, nil, errOther
	case size > pageSize-headSize:
		return 0, nil, fmt.Errorf("a fragment of %d bytes is longer than its page", size)
	case already+size > maxRecord:
		return 0, nil, errLong
	}
	body, err = r.in.Peek(size)
	if err != nil {
		return 0, nil, noEOF(err)
	}
	r.at += int64(size)
	if sum := crc32.Checksum(body, castagnoli); sum != binary.BigEndian.Uint32(head[2:]) {
		return 0, nil, fmt.Errorf("the checksum is %08x, not %08x", sum, binary.BigEndian.Uint32(head[2:]))
	}
	_, err = r.in.Discard(size) // what Peek returned stays valid until the next read
	return kind, body, err
}

// padding reads the rest of a page that is empty. A segment may end in it.
func (r *reader) padding() error {
	for r.at%pageSize != 0 {
		b, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		r.at++
		if b != 0 {
			return errors.New("the empty rest of a page is not empty")
		}
	}
	return nil
}

func (r *reader) full(b []byte) error {
	n, err := io.ReadFull(r.in, b)
	r.at += int64(n)
	return noEOF(err)
}

// noEOF: a segment that ends within a fragment is torn.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
