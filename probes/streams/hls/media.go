package hls

import (
	"bytes"
	"errors"

	"snag/probes/streams/mp4"
	"snag/probes/streams/stream"
	"snag/probes/streams/ts"
)

// container is what a segment is in.
type container uint8

const (
	unknown container = iota
	transport
	fragmented
	packedAudio
)

// media gives the frames of one playlist's segments, as their bytes come.
type media struct {
	ts     *ts.Demuxer
	mp4    *mp4.Reader
	packed packed
	kind   container
	broken error // of this segment: what follows can't be understood
	head   [8]byte
	have   int
}

func newMedia(sink stream.Sink) *media {
	return &media{ts: ts.New(sink), mp4: mp4.New(sink), packed: packed{sink: sink}}
}

// handOn has key pictures and audio handed on to who wants them.
func (m *media) handOn(o stream.Options) {
	m.ts.Keys, m.mp4.Keys = o.Keys, o.Keys
	m.ts.Sounds, m.mp4.Sounds, m.packed.sounds = o.Sounds, o.Sounds, o.Sounds
}

// begin begins a segment. goesOn reports that it is the next part of the one before.
func (m *media) begin(goesOn bool) {
	m.broken = nil
	if goesOn && (m.kind == transport || m.kind == packedAudio) {
		return
	}
	m.kind, m.have = unknown, 0
	m.ts.Segment()
	m.mp4.Segment()
	m.packed.segment()
}

// feed takes bytes of the segment, with when they came (ns).
func (m *media) feed(b []byte, arrival int64) {
	if m.kind == unknown {
		n := copy(m.head[m.have:], b)
		m.have += n
		b = b[n:]
		if m.have < len(m.head) {
			return
		}
		m.kind = sniff(m.head[:])
		m.pass(m.head[:], arrival)
	}
	m.pass(b, arrival)
}

func (m *media) pass(b []byte, arrival int64) {
	if m.broken != nil || len(b) == 0 {
		return
	}
	switch m.kind {
	case transport:
		m.ts.Feed(b, arrival)
	case fragmented:
		m.broken = m.mp4.Feed(b, arrival)
	case packedAudio:
		m.packed.feed(b, arrival)
	default:
		m.broken = errors.New("what comes is neither MPEG-TS, nor fragmented MP4, nor bare AAC, MP3 or AC-3")
	}
}

// end gives the frames that only the segment's end closes.
func (m *media) end() {
	if m.kind == transport {
		m.ts.Flush()
	}
}

// sniff tells a container by its first bytes.
func sniff(b []byte) container {
	switch {
	case b[0] == 0x47:
		return transport
	case bytes.HasPrefix(b, []byte("ID3")), b[0] == 0xff && b[1]&0xe0 == 0xe0, b[0] == 0x0b && b[1] == 0x77:
		return packedAudio
	}
	switch string(b[4:8]) {
	case "ftyp", "styp", "moof", "moov", "sidx", "emsg", "prft", "free", "skip", "mdat", "uuid":
		return fragmented
	}
	return unknown
}
