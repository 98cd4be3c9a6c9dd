package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// perf record -z packs records into one zstd stream that goes on from record to
// record and never ends: a record of it holds whole blocks, and the records that it
// unpacks to may be cut at its end (tools/perf/util/zstd.c).

// unpacker unpacks such a stream piece by piece. The decoder runs beside, as it
// wants to read and not to be fed.
type unpacker struct {
	in      chan []byte
	hungry  chan error // it has used all that it was given
	out     []byte     // unpacked, and not a whole record yet
	current []byte
	ended   chan struct{}
}

// mostUnpacked bytes may one record unpack to: perf packs its ring buffers, of some
// MB each.
const mostUnpacked = 32 << 20

// window is the most that such a stream may ask for: perf's own have 8 MB at most.
const window = 32 << 20

func newUnpacker() (*unpacker, error) {
	u := &unpacker{in: make(chan []byte), hungry: make(chan error), ended: make(chan struct{})}
	go u.run()
	// The decoder asks for its first bytes at once.
	return u, <-u.hungry
}

// Read gives the decoder what was fed. It is called on the decoder's side.
func (u *unpacker) Read(p []byte) (int, error) {
	for len(u.current) == 0 {
		u.hungry <- nil
		b, ok := <-u.in
		if !ok {
			return 0, io.EOF
		}
		u.current = b
	}
	n := copy(p, u.current)
	u.current = u.current[n:]
	return n, nil
}

func (u *unpacker) run() {
	defer close(u.ended)
	d, err := zstd.NewReader(u, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window), zstd.WithDecoderLowmem(true))
	if err == nil {
		_, err = d.WriteTo(unpacked{u}) // block by block, where Read would wait for a buffer full
		d.Close()
	}
	// Whoever feeds is told once, and finds the channel closed from then on.
	for range 2 {
		select {
		case u.hungry <- err:
		case _, ok := <-u.in:
			if !ok {
				return
			}
		}
	}
}

// unpacked takes what the decoder made.
type unpacked struct{ u *unpacker }

func (w unpacked) Write(b []byte) (int, error) {
	if len(w.u.out)+len(b) > mostUnpacked {
		return 0, errors.New("a record of them unpacks to more than it can hold")
	}
	w.u.out = append(w.u.out, b...)
	return len(b), nil
}

// feed unpacks one piece. What is unpacked is in out when it returns.
func (u *unpacker) feed(b []byte) error {
	select {
	case u.in <- b:
	case <-u.ended:
		return errors.New("its packed data ended before")
	}
	select {
	case err := <-u.hungry:
		return err
	case <-u.ended:
		return errors.New("its packed data ended")
	}
}

func (u *unpacker) close() {
	close(u.in)
	select {
	case <-u.hungry:
	case <-u.ended:
	}
	<-u.ended
}

// compressed unpacks a record and takes those that are in it.
func (rd *reading) compressed(kind uint32, body []byte) error {
	if kind == recCompressed2 { // the size, then the data, then padding
		if len(body) < 8 {
			return errors.New("its packed data are damaged")
		}
		n := binary.LittleEndian.Uint64(body)
		if n > uint64(len(body)-8) {
			return errors.New("its packed data are damaged")
		}
		body = body[8 : 8+n]
	}
	if rd.unpack == nil {
		u, err := newUnpacker()
		rd.unpack = u
		if err != nil {
			return fmt.Errorf("its packed data: %w", err)
		}
	}
	if err := rd.unpack.feed(body); err != nil {
		return fmt.Errorf("its packed data: %w", err)
	}
	out := rd.unpack.out
	for len(out) >= headerBytes {
		size := int(binary.LittleEndian.Uint16(out[6:]))
		if size < headerBytes {
			return errors.New("a record in its packed data is damaged")
		}
		if size > len(out) {
			break
		}
		if kind := binary.LittleEndian.Uint32(out); kind == recCompressed || kind == recCompressed2 {
			return errors.New("its packed data hold packed data")
		}
		if _, err := rd.take(out[:size]); err != nil {
			return err
		}
		out = out[size:]
	}
	rd.unpack.out = append(rd.unpack.out[:0], out...)
	return nil
}
