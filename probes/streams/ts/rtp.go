package ts

import (
	"github.com/pion/rtp"

	"snag/probes/streams/stream"
)

// unwrapper takes datagrams out of RTP (RFC 2250) where they are in it.
type unwrapper struct {
	head  rtp.Header
	next  uint16
	began bool
	ssrc  uint32
}

// payload is the transport packets of a datagram, nil when it came too late: there
// is no window to wait in, as the continuity counters tell of the gap anyhow.
func (w *unwrapper) payload(b []byte, sink stream.Sink) []byte {
	if len(b) < 12+Size || b[0]>>6 != 2 {
		return b // a transport packet begins with 0x47, version 1
	}
	n, err := w.head.Unmarshal(b)
	if err != nil || n >= len(b) || b[n] != syncByte {
		return b
	}
	body := b[n:]
	if w.head.Padding {
		if pad := int(b[len(b)-1]); pad < len(body) {
			body = body[:len(body)-pad]
		}
	}
	if !w.began || w.ssrc != w.head.SSRC {
		w.began, w.ssrc, w.next = true, w.head.SSRC, w.head.SequenceNumber
	}
	switch step := int16(w.head.SequenceNumber - w.next); {
	case step == -1:
		sink.Count(stream.PacketsDuplicate, 1)
		return nil
	case step < -1 && step > -1000:
		sink.Count(stream.PacketsLate, 1)
		return nil
	case step > 0 && step < 1000:
		sink.Count(stream.PacketsLost, uint64(step))
	}
	w.next = w.head.SequenceNumber + 1
	return body
}

// Wrapped is a transport stream in RTP packets that another receives (RTSP, RFC 2250).
type Wrapped struct {
	demux *Demuxer
	rtp   unwrapper
	sink  stream.Sink
}

// NewWrapped makes one that gives to sink.
func NewWrapped(sink stream.Sink) *Wrapped {
	d := New(sink)
	d.Live = true
	return &Wrapped{demux: d, sink: sink}
}

// Sounds has audio handed on.
func (w *Wrapped) Sounds(sounds stream.Sounds) { w.demux.Sounds = sounds }

// Keys has key pictures handed on.
func (w *Wrapped) Keys(keys stream.Keys) { w.demux.Keys = keys }

// Packet takes an RTP packet, with when it came (ns).
func (w *Wrapped) Packet(b []byte, arrival int64) {
	if body := w.rtp.payload(b, w.sink); body != nil {
		w.demux.Datagram(body, arrival)
	}
}

// Idle gives a picture that is whole by the clock, see Demuxer.
func (w *Wrapped) Idle(now int64) { w.demux.Idle(now, int64(idle)) }

// Flush gives what is under way, as nothing more comes.
func (w *Wrapped) Flush() { w.demux.Flush() }
