package chunks

import (
	"encoding/binary"
	"math/rand/v2"

	"snag/internal/rtmp"
)

// sent is a message that the test muxer wrote.
type sent struct {
	rtmp.Header
	payload []byte
	end     int // offset of the byte after it
}

// mux writes chunks as senders do: a full header first, then deltas, then less
// where the length or the delta repeat (RTMP 1.0, 5.3.1.2), as nginx-rtmp's
// ngx_rtmp_prepare_message and ffmpeg's rtmp_packet_write_internal.
type mux struct {
	out   []byte
	size  int
	prev  map[uint32]rtmp.Header
	delta map[uint32]uint32
	full  bool // never deltas, as SRS
	msgs  []sent
}

func newMux(size int) *mux {
	return &mux{size: size, prev: map[uint32]rtmp.Header{}, delta: map[uint32]uint32{}}
}

func (m *mux) message(h rtmp.Header, payload []byte) {
	h.Length = uint32(len(payload))
	old, seen := m.prev[h.Chunk]
	format, field := byte(0), h.Timestamp
	if seen && !m.full {
		format, field = 1, h.Timestamp-old.Timestamp
		if old.Length == h.Length && old.Type == h.Type {
			format = 2
			if d, ok := m.delta[h.Chunk]; ok && d == field {
				format = 3
			}
		}
		m.delta[h.Chunk] = field
	}
	m.prev[h.Chunk] = h
	m.out = append(m.out, format<<6|byte(h.Chunk))
	if format < 3 {
		m.out = append(m.out, byte(field>>16), byte(field>>8), byte(field))
	}
	if format < 2 {
		m.out = append(m.out, byte(h.Length>>16), byte(h.Length>>8), byte(h.Length), h.Type)
	}
	if format < 1 {
		m.out = binary.LittleEndian.AppendUint32(m.out, h.Stream)
	}
	for b := payload; ; {
		n := min(len(b), m.size)
		m.out = append(m.out, b[:n]...)
		if b = b[n:]; len(b) == 0 {
			break
		}
		m.out = append(m.out, 0xc0|byte(h.Chunk))
	}
	m.msgs = append(m.msgs, sent{h, payload, len(m.out)})
}

// stream writes seconds of 720p30 at 2.5 Mb/s with AAC: a key picture of 60 kB
// each second. noise makes the payload; constant audio has one size.
func (m *mux) stream(r *rand.Rand, seconds int, constant bool) {
	audio := 0
	for i := range seconds * 30 {
		now := uint32(i * 1000 / 30)
		for ; audio*1024*1000/44100 < int(now); audio++ {
			n := 300 + r.IntN(150)
			if constant {
				n = 371
			}
			m.message(rtmp.Header{Chunk: 6, Type: rtmp.TypeAudio, Stream: 1, Timestamp: uint32(audio * 1024 * 1000 / 44100)},
				append([]byte{0xaf, 1}, noise(r, n)...))
		}
		head, n := byte(0x27), 5000+r.IntN(7000)
		if i%30 == 0 {
			head, n = 0x17, 55000+r.IntN(10000)
		}
		m.message(rtmp.Header{Chunk: 7, Type: rtmp.TypeVideo, Stream: 1, Timestamp: now},
			append([]byte{head, 1, 0, 0, 0}, noise(r, n)...))
	}
}

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
