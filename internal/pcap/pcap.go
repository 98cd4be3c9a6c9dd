// Package pcap reads capture files: pcap of both byte orders, with micro- and
// nanoseconds (draft-ietf-opsawg-pcap), and pcapng with any number of sections and
// interfaces (draft-ietf-opsawg-pcapng). It is pure and allocates nothing a frame.
//
// A reader must tolerate: a file that ends anywhere, blocks it does not know,
// frames cut by the snap length, frames without a time (simple packet blocks),
// sections of another byte order behind each other, and lengths that lie.
package pcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"snag/internal/packet"
)

// Bounds of what a file may ask for.
const (
	maxBlock      = 16 << 20 // as libpcap's MAX_BLOCKSIZE (sf-pcapng.c)
	maxFrame      = 1 << 20  // bytes of a frame: BIG TCP goes to 512 KiB; libpcap's largest snap length is 256 KiB
	maxInterfaces = 4096     // of a section
	maxKept       = 64       // interfaces that are told of, of all sections
	bufferSize    = 256 << 10
)

// Frame is one captured frame. Data is good until the next one is read.
type Frame struct {
	At     int64 // ns since 1970; 0: the file does not say (a simple packet block)
	Link   packet.Link
	Iface  int // which of the section's interfaces
	Data   []byte
	Wire   int   // bytes on the wire; more than len(Data) where the capture cut it
	Offset int64 // of its record in the file
}

// Interface is what a file says of one interface. What is nil the file does not say.
type Interface struct {
	Name     string
	Link     packet.Link
	Snap     int     // most bytes that were kept of a frame; 0: all
	Received *uint64 // frames, before the filter; the last interface statistics block's
	Dropped  *uint64 // frames that the capture lost: by the interface and by the system
}

// Reader reads a file from its beginning.
type Reader struct {
	src    io.Reader
	buf    []byte
	at     int   // of the next byte in buf
	end    int   // of what was read into buf
	base   int64 // offset of buf[0] in the file
	err    error // of src
	frames uint64

	ng      bool
	big     bool  // byte order
	unit    int64 // pcap: ns of a unit of the fraction
	head    int   // pcap: bytes of a record's header
	faces   []face
	kept    []Interface
	lost    uint64 // pcapng's epb_dropcount
	comment string
}

// face is an interface of the section that is being read.
type face struct {
	link  packet.Link
	res   resolution
	shift int64 // if_tsoffset, s
	snap  uint32
	kept  int // in Reader.kept; -1: there are too many
}

// ErrFormat says that a file is neither pcap nor pcapng.
var ErrFormat = errors.New("it is neither a pcap nor a pcapng file")

// TornError is a file that could be read up to a point.
type TornError struct {
	Offset int64  // of the record that could not be read
	Frames uint64 // that came before
	Err    error
	// Source reports that Err is that of whoever gives the bytes, and no fault of theirs.
	Source bool
}

func (e *TornError) Error() string {
	return fmt.Sprintf("torn at byte %d, after %d packets: %v", e.Offset, e.Frames, e.Err)
}

func (e *TornError) Unwrap() error { return e.Err }

// Magic numbers.
const (
	magicMicro    = 0xa1b2c3d4
	magicNano     = 0xa1b23c4d
	magicModified = 0xa1b2cd34 // Kuznetsov's: 8 more bytes to a record's header
	magicSection  = 0x0a0d0d0a
	magicOrder    = 0x1a2b3c4d
)

// Sniff tells by a file's first bytes whether it is a capture.
func Sniff(head []byte) bool {
	if len(head) < 12 {
		return false
	}
	le, be := binary.LittleEndian.Uint32(head), binary.BigEndian.Uint32(head)
	if le == magicSection {
		return binary.LittleEndian.Uint32(head[8:]) == magicOrder || binary.BigEndian.Uint32(head[8:]) == magicOrder
	}
	return classic(le) || classic(be)
}

// again tells a file's header, of version 2.4, from that of a packet of the year 2055.
func again(b []byte) bool {
	if !classic(binary.LittleEndian.Uint32(b)) && !classic(binary.BigEndian.Uint32(b)) {
		return false
	}
	v := [4]byte(b[4:8])
	return v == [4]byte{2, 0, 4, 0} || v == [4]byte{0, 2, 0, 4}
}

func classic(magic uint32) bool {
	return magic == magicMicro || magic == magicNano || magic == magicModified
}

// New reads a file's header. io.EOF is an empty file.
func New(src io.Reader) (*Reader, error) {
	r := &Reader{src: src, buf: make([]byte, bufferSize)}
	b := r.want(4)
	if b == nil {
		if r.end == 0 && errors.Is(r.err, io.EOF) {
			return nil, io.EOF
		}
		return nil, r.short(ErrFormat)
	}
	if binary.LittleEndian.Uint32(b) == magicSection {
		r.ng = true
		return r, r.section()
	}
	return r, r.header(b)
}

// header reads the header of a pcap file.
func (r *Reader) header(b []byte) error {
	magic := binary.LittleEndian.Uint32(b)
	if !classic(magic) {
		magic, r.big = binary.BigEndian.Uint32(b), true
	}
	r.unit, r.head = 1000, 16
	switch magic {
	case magicMicro:
	case magicNano:
		r.unit = 1
	case magicModified:
		r.head = 24
	default:
		return ErrFormat
	}
	b = r.want(24)
	if b == nil {
		return r.short(io.ErrUnexpectedEOF)
	}
	link := packet.Link(r.u32(b[20:])) // the upper half holds the length of a checksum
	snap := r.u32(b[16:])
	if snap >= packet.MaxSnap {
		snap = 0
	}
	if len(r.kept) < maxKept {
		r.kept = append(r.kept, Interface{Link: link, Snap: int(snap)})
	}
	r.faces = []face{{link: link}}
	r.at += 24
	return nil
}

// Next reads the next frame. io.EOF is the file's end; a *TornError says that it
// goes on in a way that can't be read, and nothing comes after it.
func (r *Reader) Next(f *Frame) error {
	if r.ng {
		return r.nextBlock(f)
	}
	b := r.want(r.head)
	if b == nil {
		if r.at == r.end && errors.Is(r.err, io.EOF) {
			return io.EOF
		}
		return r.torn(r.short(io.ErrUnexpectedEOF))
	}
	if again(b) { // cat one.pcap two.pcap
		r.big = false
		if err := r.header(b); err != nil {
			return r.torn(err)
		}
		return r.Next(f)
	}
	sec, part, caplen, wire := r.u32(b), r.u32(b[4:]), r.u32(b[8:]), r.u32(b[12:])
	if caplen > maxFrame || caplen == 0 && wire == 0 { // a hole reads as packets of nothing
		return r.torn(fmt.Errorf("a packet of %d bytes", caplen))
	}
	n := int(caplen)
	if b = r.want(r.head + n); b == nil {
		return r.torn(r.short(io.ErrUnexpectedEOF))
	}
	f.At = int64(sec)*1e9 + int64(part)*r.unit
	f.Link, f.Iface = r.faces[0].link, 0
	f.Data, f.Wire = b[r.head:], max(int(wire), n)
	f.Offset = r.base + int64(r.at)
	r.at += r.head + n
	r.frames++
	return nil
}

// Offset is how far the file was read.
func (r *Reader) Offset() int64 { return r.base + int64(r.at) }

// Interfaces are those that the file told of so far, at most 64.
func (r *Reader) Interfaces() []Interface { return r.kept }

// Dropped is how many frames the capture says it lost, and whether it says so.
func (r *Reader) Dropped() (n uint64, told bool) {
	for _, i := range r.kept {
		if i.Dropped != nil {
			n, told = n+*i.Dropped, true
		}
	}
	return max(n, r.lost), told || r.lost > 0
}

// Comment is the first that the file holds of itself, at most 256 bytes.
func (r *Reader) Comment() string { return r.comment }

// want gives the next n bytes without taking them; nil: the file ends before.
func (r *Reader) want(n int) []byte {
	if r.end-r.at < n && !r.fill(n) {
		return nil
	}
	return r.buf[r.at : r.at+n]
}

// fill reads on until n bytes are there. The buffer grows with what the file really
// holds, not with what it promises.
func (r *Reader) fill(n int) bool {
	r.base += int64(r.at)
	r.end = copy(r.buf, r.buf[r.at:r.end])
	r.at = 0
	for r.end < n && r.err == nil {
		if r.end == len(r.buf) {
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		}
		var m int
		m, r.err = r.src.Read(r.buf[r.end:])
		r.end += m
	}
	return r.end >= n
}

// skip passes over n bytes, of which few may be in the buffer.
func (r *Reader) skip(n int64) bool {
	for n > int64(r.end-r.at) {
		n -= int64(r.end - r.at)
		r.at = r.end
		if !r.fill(1) {
			return false
		}
	}
	r.at += int(n)
	return true
}

// short is why there was not enough: the file's own error, or what else.
func (r *Reader) short(otherwise error) error {
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		return r.err
	}
	return otherwise
}

func (r *Reader) torn(err error) error {
	return &TornError{r.base + int64(r.at), r.frames, err, r.err != nil && errors.Is(err, r.err)}
}

func (r *Reader) u32(b []byte) uint32 {
	if r.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (r *Reader) u16(b []byte) uint16 {
	if r.big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (r *Reader) u64(b []byte) uint64 {
	if r.big {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// text is an option's text without the zeros that pad it.
func text(b []byte) string {
	b = bytes.TrimRight(b[:min(len(b), 256)], "\x00")
	return string(bytes.ToValidUTF8(b, []byte("?")))
}
