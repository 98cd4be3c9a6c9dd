package hls

import (
	"bytes"
	"encoding/binary"

	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// maxTag bounds an ID3 tag, in bytes; it may hold a picture.
const maxTag = 1 << 20

// owner is of the ID3 frame with the segment's time (RFC 8216 3.4).
const owner = "com.apple.streaming.transportStreamTimestamp\x00"

// packed reads segments of bare audio frames behind an ID3 tag.
type packed struct {
	sink   stream.Sink
	head   [10]byte
	have   int
	left   int // of the frame
	tag    int // bytes of the ID3 tag yet to come
	seen   []byte
	params stream.Params
	at     int64 // DTS of the next frame, ns
	step   int64
	size   int
	clock  stream.Clock90
	sounds stream.Sounds // takes audio; nil: nobody
	second stream.Second
	sealed bool // what follows the frames' heads is encrypted
}

// window is how much of a tag is searched, in bytes: the owner and 8 behind it.
const window = 512

func (p *packed) segment() {
	p.have, p.left, p.tag, p.seen = 0, 0, 0, p.seen[:0]
	p.second.Cut()
}

func (p *packed) feed(b []byte, arrival int64) {
	for len(b) > 0 {
		switch {
		case p.tag > 0:
			n := min(p.tag, len(b))
			if room := window - len(p.seen); room > 0 {
				p.seen = append(p.seen, b[:min(room, n)]...)
			}
			p.tag -= n
			b = b[n:]
			if p.tag == 0 {
				p.time()
			}
		case p.left > 0:
			n := min(p.left, len(b))
			p.second.Add(b[:n])
			b = b[n:]
			if p.left -= n; p.left == 0 {
				p.frame(arrival)
			}
		default:
			n := copy(p.head[p.have:], b)
			p.have += n
			b = b[n:]
			if p.have == len(p.head) {
				p.begin()
			}
		}
	}
}

// begin reads the head of a tag or of a frame.
func (p *packed) begin() {
	h := p.head[:]
	if string(h[:3]) == "ID3" { // ID3v2 3.1: four times seven bits
		size := int(h[6]&127)<<21 | int(h[7]&127)<<14 | int(h[8]&127)<<7 | int(h[9]&127)
		p.have, p.seen = 0, p.seen[:0]
		p.tag = min(size, maxTag)
		return
	}
	a, size, head := frameHead(h)
	if size <= len(h) || a.SampleRate == 0 { // no frame: one byte on
		copy(h, h[1:])
		p.have--
		return
	}
	if a.Params != p.params {
		p.params = a.Params
		p.sink.Params(a.Params)
	}
	p.step = int64(a.Samples) * 1e9 / int64(a.SampleRate)
	p.left, p.size = size-len(h), size-head
	if !p.sealed && p.second.Begin(p.sounds, p.at) {
		p.second.Add(h)
	}
}

func frameHead(b []byte) (a codec.Audio, size, head int) {
	if h, err := codec.ADTS(b); err == nil {
		return h.Audio, h.Size, h.Head
	}
	if h, err := codec.MPEGAudio(b); err == nil {
		return h.Audio, h.Size, 0
	}
	if h, err := codec.DolbyAudio(b); err == nil {
		return h.Audio, h.Size, 0
	}
	return a, 0, 0
}

func (p *packed) frame(arrival int64) {
	p.have = 0
	p.sink.Frame(stream.Frame{Kind: stream.Audio, Arrival: arrival, DTS: p.at, PTS: p.at, Size: p.size})
	p.second.End(p.sounds, stream.Sound{Codec: p.params.Codec}, p.at, p.step, arrival)
	p.at += p.step
}

// time takes the segment's time from its tag: 33 bits, counted on beyond the wrap.
func (p *packed) time() {
	i := bytes.Index(p.seen, []byte(owner))
	if i < 0 || len(p.seen) < i+len(owner)+8 {
		return
	}
	p.at = p.clock.NS(binary.BigEndian.Uint64(p.seen[i+len(owner):]) & (1<<33 - 1))
}
