package recording

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// The log's pages and fragments (tsdb/docs/format/wal.md): a byte of type and flags, a
// length of 2 bytes, a sum of 4; a record is one fragment, or first, middle …, last.
const (
	walPage     = 32 << 10
	walHead     = 7
	walTypeMask = 7
	walSnappy   = 8
	walFull     = 1
	walFirst    = 2
	// maxRecord bounds a record once it is decompressed, bytes: the first samples of 50,000
	// series take a quarter of it.
	maxRecord = 32 << 20
)

// saneSegment refuses a segment of the log whose records would take more memory than
// snag's own can. The engine believes the length that a compressed record gives.
func saneSegment(path string) error {
	// It was seen to be a regular file; it may have been replaced since.
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return saneLog(bufio.NewReaderSize(f, walPage))
}

// saneLog goes from fragment to fragment as the engine does; where the log is damaged the
// engine ends as well.
func saneLog(in *bufio.Reader) error {
	at, length := int64(0), 0 // of the log; of the present record
	flags := byte(0)
	for {
		kind, err := in.ReadByte()
		if err != nil {
			return endOfLog(err)
		}
		at++
		if kind&walTypeMask == 0 { // the rest of the page is empty
			if rest := walPage - at%walPage; rest != walPage {
				n, err := in.Discard(int(rest))
				if err != nil {
					return endOfLog(err)
				}
				at += int64(n)
			}
			continue
		}
		head := make([]byte, walHead-1)
		if _, err := io.ReadFull(in, head); err != nil {
			return endOfLog(err)
		}
		size := int(binary.BigEndian.Uint16(head))
		if size > walPage-walHead {
			return nil
		}
		if t := kind & walTypeMask; t == walFull || t == walFirst {
			length, flags = 0, kind&^walTypeMask
			begin, err := in.Peek(min(size, binary.MaxVarintLen64))
			if err != nil {
				return endOfLog(err)
			}
			// A block of snappy begins with its length once decompressed.
			n, ok := binary.Uvarint(begin)
			if flags&walSnappy != 0 && (ok <= 0 || n > maxRecord) {
				return fmt.Errorf("a record of over %d bytes: snag's have at most that", maxRecord)
			}
		}
		switch length += size; {
		case kind&^walTypeMask != flags || flags&^walSnappy != 0:
			return errors.New("a record that is compressed as snag compresses none")
		case length > maxRecord:
			return fmt.Errorf("a record of over %d bytes: snag's have at most that", maxRecord)
		}
		if _, err := in.Discard(size); err != nil {
			return endOfLog(err)
		}
		at += int64(walHead - 1 + size)
	}
}

// endOfLog is nil for the end of a log, wherever it is cut off.
func endOfLog(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
