package passive

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"

	"snag/internal/packet"
	"snag/probes/streams/passive/capture"
)

var (
	paperClient = netip.MustParseAddrPort("10.0.0.3:5000")
	paperServer = netip.MustParseAddrPort("10.0.0.1:1935")
)

// paper is a publisher's connection on paper: 25 pictures per second of about 4 kB,
// sound, a key picture every two seconds, each byte acknowledged by the server.
type paper struct {
	out      []capture.Packet
	at       int64 // ns
	seq, ack uint32
	r        *rand.Rand
	size     int // of chunks
	said     map[byte]bool
	stamp    map[byte]uint32
	mtu      int
}

func newPaper(isn uint32, at int64) *paper {
	p := &paper{at: at, seq: isn, ack: 1000, r: rand.New(rand.NewPCG(uint64(isn), 3)), size: 128, said: map[byte]bool{}, stamp: map[byte]uint32{}, mtu: 1448}
	p.packet(true, packet.SYN, nil)
	p.seq++
	p.packet(false, packet.SYN|packet.ACK, nil)
	p.ack++
	p.packet(true, packet.ACK, nil)
	p.send(append([]byte{version}, make([]byte, 2*1536)...))
	p.message(2, 1, 0, []byte{0, 0, 16, 0})
	p.size = 4096
	return p
}

// packet adds a segment from the client or the server.
func (p *paper) packet(up bool, flags byte, payload []byte) {
	src, dst, seq, ack := paperClient, paperServer, p.seq, p.ack
	if !up {
		src, dst, seq, ack = dst, src, ack, seq
	}
	b := []byte{0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, packet.TCP, 0, 0}
	binary.BigEndian.PutUint16(b[2:], uint16(40+len(payload)))
	b = append(append(b, src.Addr().AsSlice()...), dst.Addr().AsSlice()...)
	b = binary.BigEndian.AppendUint16(b, src.Port())
	b = binary.BigEndian.AppendUint16(b, dst.Port())
	b = binary.BigEndian.AppendUint32(b, seq)
	b = binary.BigEndian.AppendUint32(b, ack)
	b = append(append(b, 5<<4, flags, 0xff, 0xff, 0, 0, 0, 0), payload...)
	p.out = append(p.out, capture.Packet{At: p.at, Proto: packet.EtherIPv4, Data: b, Wire: len(b)})
	p.at += 10_000
}

// send sends bytes in segments, each acknowledged.
func (p *paper) send(b []byte) {
	for len(b) > 0 {
		n := min(len(b), p.mtu)
		p.packet(true, packet.ACK|packet.PSH, b[:n])
		p.seq += uint32(n)
		b = b[n:]
		p.packet(false, packet.ACK, nil)
	}
}

// message sends a message as ffmpeg does: a whole header first, then deltas.
func (p *paper) message(chunk, kind byte, stamp uint32, payload []byte) {
	format, field := byte(0), stamp
	if p.said[chunk] {
		format, field = 1, stamp-p.stamp[chunk]
	}
	p.said[chunk], p.stamp[chunk] = true, stamp
	n := len(payload)
	b := []byte{format<<6 | chunk, byte(field >> 16), byte(field >> 8), byte(field), byte(n >> 16), byte(n >> 8), byte(n), kind}
	if format == 0 {
		b = append(b, 1, 0, 0, 0)
	}
	for i := 0; ; i += p.size {
		if n-i <= p.size {
			p.send(append(b, payload[i:]...))
			return
		}
		b = append(append(b, payload[i:i+p.size]...), 0xc0|chunk)
	}
}

// stream sends seconds of media from a timestamp on, at its own pace. pause is
// called before each picture and may let time pass.
func (p *paper) stream(from uint32, seconds int, pause func(picture int)) {
	began := p.at
	audio := 0
	for i := range seconds * 25 {
		if pause != nil {
			pause(i)
		}
		now := uint32(i * 40)
		for ; audio*1024*1000/44100 < int(now); audio++ {
			p.message(4, 8, from+uint32(audio*1024*1000/44100), append([]byte{0xaf, 1}, p.noise(150+p.r.IntN(80))...))
		}
		p.at = max(p.at, began+int64(now)*1e6)
		head, n := byte(0x27), 3000+p.r.IntN(2000)
		if i%50 == 0 {
			head, n = 0x17, 15000+p.r.IntN(5000)
		}
		p.message(6, 9, from+now, append([]byte{head, 1, 0, 0, 0}, p.noise(n)...))
	}
}

func (p *paper) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(p.r.Uint32())
	}
	return b
}
