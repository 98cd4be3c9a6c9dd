package pcap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"snag/internal/packet"
)

// Types of blocks (draft-ietf-opsawg-pcapng, section 11.1).
const (
	blockInterface  = 1
	blockPacket     = 2 // obsolete
	blockSimple     = 3
	blockStatistics = 5
	blockEnhanced   = 6
)

// nextBlock reads blocks up to the next frame.
func (r *Reader) nextBlock(f *Frame) error {
	for {
		b := r.want(8)
		if b == nil {
			if r.at == r.end && errors.Is(r.err, io.EOF) {
				return io.EOF
			}
			return r.torn(r.short(io.ErrUnexpectedEOF))
		}
		kind := r.u32(b)
		if kind == magicSection { // it reads the same in both orders
			if err := r.section(); err != nil {
				return r.torn(err)
			}
			continue
		}
		total := r.u32(b[4:])
		if total < 12 || total&3 != 0 {
			return r.torn(fmt.Errorf("a block of %d bytes", total))
		}
		switch kind {
		case blockInterface, blockPacket, blockSimple, blockStatistics, blockEnhanced:
		default: // names, secrets, journal entries, whoever's own
			if !r.skip(int64(total)) {
				return r.torn(r.short(io.ErrUnexpectedEOF))
			}
			continue
		}
		if total > maxBlock {
			return r.torn(fmt.Errorf("a block of %d bytes", total))
		}
		if b = r.want(int(total)); b == nil {
			return r.torn(r.short(io.ErrUnexpectedEOF))
		}
		if again := r.u32(b[total-4:]); again != total {
			return r.torn(fmt.Errorf("a block of %d bytes that ends as one of %d", total, again))
		}
		got, err := r.block(kind, b[8:total-4], f)
		if err != nil {
			return r.torn(err)
		}
		f.Offset = r.base + int64(r.at)
		r.at += int(total)
		if got {
			r.frames++
			return nil
		}
	}
}

// section reads a section header block (4.1): from here on its byte order holds, and
// interfaces are counted anew.
func (r *Reader) section() error {
	b := r.want(28)
	if b == nil {
		return r.short(io.ErrUnexpectedEOF)
	}
	switch {
	case binary.LittleEndian.Uint32(b[8:]) == magicOrder:
		r.big = false
	case binary.BigEndian.Uint32(b[8:]) == magicOrder:
		r.big = true
	default:
		return ErrFormat
	}
	if major := r.u16(b[12:]); major != 1 {
		return fmt.Errorf("version %d of pcapng, which is not known", major)
	}
	total := r.u32(b[4:])
	if total < 28 || total > maxBlock || total&3 != 0 {
		return fmt.Errorf("a section header of %d bytes", total)
	}
	if b = r.want(int(total)); b == nil {
		return r.short(io.ErrUnexpectedEOF)
	}
	r.faces = r.faces[:0]
	r.options(b[24:total-4], func(code uint16, v []byte) {
		if code == 1 && r.comment == "" {
			r.comment = text(v)
		}
	})
	r.at += int(total)
	return nil
}

// block reads a block's body; true: it was a frame.
func (r *Reader) block(kind uint32, b []byte, f *Frame) (bool, error) {
	switch kind {
	case blockInterface:
		return false, r.iface(b)
	case blockStatistics:
		r.statistics(b)
		return false, nil
	case blockSimple:
		return r.simple(b, f)
	}
	if len(b) < 20 {
		return false, errors.New("a packet block without its header")
	}
	i := int(r.u32(b))
	drops := uint16(0)
	if kind == blockPacket {
		i, drops = int(r.u16(b)), r.u16(b[2:])
	}
	if i >= len(r.faces) {
		return false, fmt.Errorf("a packet of interface %d, that the file does not describe", i)
	}
	n := int(r.u32(b[12:]))
	if n > len(b)-20 || n > maxFrame {
		return false, fmt.Errorf("a packet of %d bytes in a block of %d", n, len(b))
	}
	face := &r.faces[i]
	f.At = face.at(uint64(r.u32(b[4:]))<<32 | uint64(r.u32(b[8:])))
	f.Link, f.Iface = face.link, i
	f.Data, f.Wire = b[20:20+n], max(int(r.u32(b[16:])), n)
	if drops != 0 && drops != 0xffff {
		r.lost += uint64(drops)
	}
	if rest := b[20+(n+3)&^3:]; kind == blockEnhanced && len(rest) >= 4 {
		r.options(rest, func(code uint16, v []byte) {
			if code == 4 && len(v) == 8 { // epb_dropcount: lost between this packet and the one before
				r.lost += r.u64(v)
			}
		})
	}
	return true, nil
}

// simple reads a simple packet block (4.4): no time, and the first interface.
func (r *Reader) simple(b []byte, f *Frame) (bool, error) {
	if len(b) < 4 || len(r.faces) == 0 {
		return false, errors.New("a simple packet block without an interface")
	}
	face := &r.faces[0]
	wire := r.u32(b)
	n := min(int(wire), len(b)-4)
	if face.snap > 0 {
		n = min(n, int(face.snap))
	}
	f.At, f.Link, f.Iface = 0, face.link, 0
	f.Data, f.Wire = b[4:4+n], int(wire)
	return true, nil
}

// iface reads an interface description block (4.2).
func (r *Reader) iface(b []byte) error {
	if len(b) < 8 {
		return errors.New("an interface block without its header")
	}
	if len(r.faces) >= maxInterfaces {
		return fmt.Errorf("more than %d interfaces", maxInterfaces)
	}
	f := face{link: packet.Link(r.u16(b)), res: decimal(6), snap: r.u32(b[4:]), kept: -1}
	var name string
	r.options(b[8:], func(code uint16, v []byte) {
		switch {
		case code == 2: // if_name
			name = text(v)
		case code == 9 && len(v) == 1: // if_tsresol
			f.res = decimal(int(v[0]))
			if v[0]&0x80 != 0 {
				f.res = binaryUnit(int(v[0] & 0x7f))
			}
		case code == 14 && len(v) == 8: // if_tsoffset
			f.shift = int64(r.u64(v))
		}
	})
	if len(r.kept) < maxKept {
		f.kept = len(r.kept)
		snap := f.snap
		if snap >= packet.MaxSnap {
			snap = 0
		}
		r.kept = append(r.kept, Interface{Name: name, Link: f.link, Snap: int(snap)})
	}
	r.faces = append(r.faces, f)
	return nil
}

// statistics reads an interface statistics block (4.6). Its counters run from the
// capture's beginning: the last block holds.
func (r *Reader) statistics(b []byte) {
	if len(b) < 12 {
		return
	}
	i := r.u32(b)
	if int(i) >= len(r.faces) || r.faces[i].kept < 0 {
		return
	}
	of := &r.kept[r.faces[i].kept]
	var dropped uint64
	told := false
	r.options(b[12:], func(code uint16, v []byte) {
		if len(v) != 8 {
			return
		}
		n := r.u64(v)
		switch code {
		case 4: // isb_ifrecv
			of.Received = &n
		case 5, 7: // isb_ifdrop, isb_osdrop
			dropped, told = dropped+n, true
		}
	})
	if told {
		of.Dropped = &dropped
	}
}

// options walks over a block's options (3.5).
func (r *Reader) options(b []byte, yield func(code uint16, v []byte)) {
	for len(b) >= 4 {
		code, n := r.u16(b), int(r.u16(b[2:]))
		if code == 0 || n > len(b)-4 {
			return
		}
		yield(code, b[4:4+n])
		b = b[min(len(b), 4+(n+3)&^3):]
	}
}
