package mp4

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"snag/probes/streams/stream"
)

// nonSync is sample_is_non_sync_sample of sample_flags (8.8.3.1).
const nonSync = 1 << 16

// run is the state over a traf's boxes.
type run struct {
	t              *track
	duration, size uint32
	flags          uint32
	base           uint64 // where data_offset counts from
	at             uint64 // decode time, ticks
	data           uint64 // where the next run without an offset begins
}

// fragment reads a moof box and fills r.frames, in any order.
func (r *Reader) fragment(b []byte) error {
	if len(r.tracks) == 0 {
		return errors.New("read MP4: a fragment without a movie box before it (EXT-X-MAP)")
	}
	var failed error
	each(b, func(kind string, b []byte) {
		if kind != "traf" || failed != nil {
			return
		}
		u := run{base: r.start, data: r.pos}
		each(b, func(kind string, b []byte) {
			if failed != nil {
				return
			}
			switch kind {
			case "tfhd":
				u.header(r, b)
			case "tfdt": // 8.8.12
				if u.t == nil || len(b) < 8 {
					return
				}
				if b[0] == 1 && len(b) >= 12 {
					u.at = binary.BigEndian.Uint64(b[4:])
				} else {
					u.at = uint64(binary.BigEndian.Uint32(b[4:]))
				}
			case "trun":
				if u.t != nil {
					failed = u.samples(r, b)
				}
			}
		})
		if u.t != nil {
			u.t.at = u.at
		}
	})
	return failed
}

// header reads tfhd (8.8.7).
func (u *run) header(r *Reader, b []byte) {
	if len(b) < 8 {
		return
	}
	flags, id := binary.BigEndian.Uint32(b)&0xffffff, binary.BigEndian.Uint32(b[4:])
	for i := range r.tracks {
		if r.tracks[i].id == id {
			u.t = &r.tracks[i]
		}
	}
	if u.t == nil {
		return
	}
	u.duration, u.size, u.flags, u.at = u.t.duration, u.t.size, u.t.flags, u.t.at
	b = b[8:]
	if flags&1 != 0 && len(b) >= 8 { // base_data_offset: from the file's start
		u.base = binary.BigEndian.Uint64(b)
		u.data = u.base
		b = b[8:]
	}
	if flags&2 != 0 && len(b) >= 4 { // sample_description_index
		b = b[4:]
	}
	for _, f := range []struct {
		flag uint32
		to   *uint32
	}{{8, &u.duration}, {16, &u.size}, {32, &u.flags}} {
		if flags&f.flag != 0 && len(b) >= 4 {
			*f.to = binary.BigEndian.Uint32(b)
			b = b[4:]
		}
	}
}

// samples reads trun (8.8.8).
func (u *run) samples(r *Reader, b []byte) error {
	if len(b) < 8 {
		return nil
	}
	version, flags := b[0], binary.BigEndian.Uint32(b)&0xffffff
	n := int(binary.BigEndian.Uint32(b[4:]))
	b = b[8:]
	width := 4 * bits.OnesCount32(flags&0xf00)
	if n < 0 || n > maxSamples-len(r.frames) || width > 0 && n > len(b)/width {
		return fmt.Errorf("read MP4: a run of %d samples in a fragment: at most %d are read", n, maxSamples)
	}
	offset := u.data
	if flags&1 != 0 && len(b) >= 4 {
		offset = u.base + uint64(int64(int32(binary.BigEndian.Uint32(b))))
		b = b[4:]
	}
	first, hasFirst := uint32(0), flags&4 != 0
	if hasFirst && len(b) >= 4 {
		first = binary.BigEndian.Uint32(b)
		b = b[4:]
	}
	for i := range n {
		duration, size, sampleFlags, composition := u.duration, u.size, u.flags, int64(0)
		if i == 0 && hasFirst {
			sampleFlags = first
		}
		if len(b) < width {
			return nil
		}
		for bit := uint32(0x100); bit <= 0x800; bit <<= 1 {
			if flags&bit == 0 {
				continue
			}
			v := binary.BigEndian.Uint32(b)
			b = b[4:]
			switch bit {
			case 0x100:
				duration = v
			case 0x200:
				size = v
			case 0x400:
				sampleFlags = v
			case 0x800:
				composition = int64(v)
				if version > 0 {
					composition = int64(int32(v))
				}
			}
		}
		offset += uint64(size)
		r.frames = append(r.frames, sample{end: offset, frame: stream.Frame{
			Kind: u.t.Kind,
			Key:  u.t.Kind == stream.Video && sampleFlags&nonSync == 0,
			DTS:  nanoseconds(int64(u.at), u.t.scale),
			PTS:  nanoseconds(int64(u.at)+composition, u.t.scale),
			Size: int(size),
		}})
		u.at += uint64(duration)
	}
	u.data = offset
	return nil
}

// nanoseconds of ticks, scale of them a second.
func nanoseconds(ticks int64, scale uint64) int64 {
	s := int64(scale)
	return ticks/s*1e9 + ticks%s*1e9/s
}
