// Package ps receives GB/T 28181 streams: an MPEG program stream (ISO/IEC 13818-1
// 2.5) in RTP, over UDP or over TCP framed by RFC 4571. Only heads are kept, and key
// pictures that are wanted (stream.Keys), one at a time.
//
// A frame's DTS is that of its PES packet, its PTS where it has no DTS. When several
// pictures begin in one PES packet only the first has times of its own; the others
// are given one step after another.
package ps

import (
	"bytes"

	"snag/probes/streams/stream"
)

// Start codes' last byte: table 2-22 (stream_id) and 2.5.3.
const (
	idEnd    = 0xb9
	idPack   = 0xba
	idSystem = 0xbb
	idMap    = 0xbc
)

// maxMap is the longest program stream map, bytes (2.5.4.1).
const maxMap = 1018

// Demuxer reads a program stream that comes in any pieces. It allocates nothing
// but what it was made with, and key pictures and audio that are wanted.
type Demuxer struct {
	sink   stream.Sink
	synced bool // a pack header was found, and all since fits
	head   [6 + maxMap + 8]byte
	n      int // bytes of a header so far
	left   int // bytes of the packet's payload yet to come
	to     *track
	video  track
	audio  track
	types  [256]uint8 // stream_type by stream_id, of the map
	Packs  uint64     // pack headers seen
	Lost   uint64     // times it lost its way
}

// NewDemuxer makes one that gives frames to sink.
func NewDemuxer(sink stream.Sink) *Demuxer {
	d := &Demuxer{sink: sink}
	d.video = track{sink: sink, kind: stream.Video}
	d.audio = track{sink: sink, kind: stream.Audio}
	d.video.each = d.video.unit
	return d
}

// Feed takes the next bytes, which came at at.
func (d *Demuxer) Feed(b []byte, at int64) {
	for len(b) > 0 {
		if d.left > 0 {
			n := min(d.left, len(b))
			d.left -= n
			if d.to != nil {
				d.to.feed(b[:n], at)
				if d.left == 0 {
					d.to.packetEnds()
				}
			}
			b = b[n:]
			continue
		}
		if !d.synced && d.n == 0 {
			// Straight to what may be a start code.
			i := bytes.IndexByte(b, 0)
			if i < 0 {
				return
			}
			b = b[i:]
		}
		need := d.need()
		n := copy(d.head[d.n:need], b)
		d.n += n
		b = b[n:]
		if d.n == need && d.need() == need {
			d.header()
		}
	}
}

// Keys has key pictures of H.264 and HEVC handed on: call it before Feed.
func (d *Demuxer) Keys(keys stream.Keys) { d.video.keyed.keys = keys }

// Sounds has audio handed on, G.711 and AAC: call it before Feed.
func (d *Demuxer) Sounds(sounds stream.Sounds) { d.audio.heard.sounds = sounds }

// FrameEnds is told that the sender ended a frame here (RTP's marker bit): its last
// picture need not wait for the next one.
func (d *Demuxer) FrameEnds() {
	if d.left == 0 && d.n == 0 {
		d.video.end()
	}
}

// Missing is told that bytes were lost: the next pack header is looked for.
func (d *Demuxer) Missing() {
	d.video.broken()
	d.audio.broken()
	d.lose()
}

// End gives the picture under way.
func (d *Demuxer) End() { d.video.end() }

func (d *Demuxer) lose() {
	if d.synced {
		d.Lost++
	}
	d.synced, d.n, d.left, d.to = false, 0, 0, nil
}

// need is how many bytes of the header there must be for the next look at it.
func (d *Demuxer) need() int {
	if d.n < 4 {
		return 4
	}
	switch id := d.head[3]; {
	case !d.fits(), id == idEnd:
		return 4
	case id == idPack:
		if d.n < 5 {
			return 5
		}
		if d.head[4]>>6 != 1 { // MPEG-1 (ISO/IEC 11172-1)
			return 12
		}
		if d.n < 14 {
			return 14
		}
		return 14 + int(d.head[13]&7) // stuffing
	case d.n < 6:
		return 6
	case id == idMap && d.length() <= maxMap:
		return 6 + d.length()
	case isMedia(id) && d.length() >= 3:
		if d.n < 9 {
			return 9
		}
		return 9 + int(d.head[8])
	}
	return 6
}

func (d *Demuxer) length() int { return int(d.head[4])<<8 | int(d.head[5]) }

func isVideo(id uint8) bool { return id >= 0xe0 && id <= 0xef }
func isAudio(id uint8) bool { return id >= 0xc0 && id <= 0xdf }
func isMedia(id uint8) bool { return isVideo(id) || isAudio(id) }

// fits reports whether the first four bytes are a start code that may come here.
func (d *Demuxer) fits() bool {
	h := &d.head
	return h[0] == 0 && h[1] == 0 && h[2] == 1 && h[3] >= idEnd && (d.synced || h[3] == idPack)
}

// header takes one that is whole.
func (d *Demuxer) header() {
	h := d.head[:d.n]
	id := h[3]
	if !d.fits() {
		d.lose()
		// The start code may begin in these bytes.
		for i := 1; i < len(h); i++ {
			if bytes.HasPrefix([]byte{0, 0, 1, idPack}, h[i:min(len(h), i+4)]) {
				d.n = copy(d.head[:], h[i:])
				return
			}
		}
		return
	}
	d.n, d.to = 0, nil
	switch {
	case id == idEnd:
	case id == idPack:
		d.synced = true
		d.Packs++
	case id == idMap:
		if d.length() > maxMap {
			d.left = d.length()
			return
		}
		d.readMap(h)
	case isMedia(id) && d.length() >= 3:
		d.pes(h)
	default:
		d.left = d.length()
	}
}

// pes takes a PES header (2.4.3.6).
func (d *Demuxer) pes(h []byte) {
	d.left = max(d.length()-3-int(h[8]), 0)
	if h[6]>>6 != 2 || int(h[8]) > d.length()-3 {
		return // MPEG-1's, or one that contradicts itself
	}
	t := &d.video
	if isAudio(h[3]) {
		t = &d.audio
	}
	if t.id != 0 && t.id != h[3] {
		return // a second track of its kind
	}
	t.id = h[3]
	t.setType(d.types[h[3]])
	t.packetBegins(h)
	if d.left > 0 {
		d.to = t
	} else {
		t.packetEnds()
	}
}

// readMap reads a program stream map (2.5.4): which codec each stream has.
func (d *Demuxer) readMap(h []byte) {
	b := h[6:]
	if len(b) < 10 {
		return
	}
	info := int(b[2])<<8 | int(b[3])
	if 4+info+2 > len(b) {
		return
	}
	b = b[4+info:]
	n := int(b[0])<<8 | int(b[1])
	b = b[2:]
	b = b[:min(n, len(b))]
	for len(b) >= 4 {
		d.types[b[1]] = b[0]
		b = b[min(4+int(b[2])<<8+int(b[3]), len(b)):]
	}
}
