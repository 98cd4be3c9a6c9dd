package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/golang/snappy"

	"snag/internal/private"
)

// Writer appends records to a new log.
type Writer struct {
	dir     string
	segment int // bytes of a segment: a longer record has a longer one
	file    *os.File
	next    int    // number of the next segment
	at      int    // bytes of this segment that are in the file
	buf     []byte // what is to be written behind them
	packed  []byte
}

// Create makes the directory dir and begins a log in it. segmentSize is in bytes.
func Create(dir string, segmentSize int) (*Writer, error) {
	if err := os.MkdirAll(dir, private.FolderMode()); err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, segment: segmentSize}
	return w, w.open()
}

// open begins the next segment.
func (w *Writer) open() error {
	name := filepath.Join(w.dir, fmt.Sprintf("%08d", w.next))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, private.FileMode())
	if err != nil {
		return err
	}
	w.file, w.at = f, 0
	w.next++
	return nil
}

// Log appends records and hands them to the kernel, all of one segment or none: after a failed write the segment
// ends with the last whole call. It does not wait for the disk.
func (w *Writer) Log(records ...[]byte) error {
	for _, rec := range records {
		flags := byte(0)
		w.packed = snappy.Encode(w.packed[:cap(w.packed)], rec)
		if len(w.packed) < len(rec) {
			rec, flags = w.packed, flagSnappy
		}
		if w.at+len(w.buf) > 0 && len(rec) > w.room() {
			if err := w.cut(); err != nil {
				return err
			}
		}
		w.put(rec, flags)
	}
	return w.flush()
}

// used is how much of the present page is taken, bytes.
func (w *Writer) used() int { return (w.at + len(w.buf)) % pageSize }

// room is how many bytes of a record this segment takes.
func (w *Writer) room() int {
	behind := w.segment/pageSize - (w.at+len(w.buf))/pageSize - 1 // pages behind the present one
	return pageSize - w.used() - headSize + behind*(pageSize-headSize)
}

// put adds a record to what is to be written.
func (w *Writer) put(rec []byte, flags byte) {
	for first := true; first || len(rec) > 0; first = false {
		n := min(len(rec), pageSize-w.used()-headSize)
		kind := byte(typeMiddle)
		switch last := n == len(rec); {
		case first && last:
			kind = typeFull
		case first:
			kind = typeFirst
		case last:
			kind = typeLast
		}
		w.buf = append(w.buf, kind|flags)
		w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(n))
		w.buf = binary.BigEndian.AppendUint32(w.buf, crc32.Checksum(rec[:n], castagnoli))
		w.buf = append(w.buf, rec[:n]...)
		rec = rec[n:]
		if pageSize-w.used() <= headSize {
			w.pad()
		}
	}
}

// pad fills the rest of a page that is begun.
func (w *Writer) pad() {
	if used := w.used(); used > 0 {
		w.buf = append(w.buf, make([]byte, pageSize-used)...)
	}
}

// cut ends this segment and begins the next one.
func (w *Writer) cut() error {
	w.pad()
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.file.Close(); err != nil {
		return err
	}
	return w.open()
}

func (w *Writer) flush() error {
	n, err := w.file.Write(w.buf)
	w.buf = w.buf[:0]
	if err != nil {
		if n > 0 {
			err = errors.Join(err, w.file.Truncate(int64(w.at)))
		}
		return err
	}
	w.at += n
	return nil
}

// Close writes the last segment to the disk and closes it.
func (w *Writer) Close() error { return errors.Join(w.file.Sync(), w.file.Close()) }
