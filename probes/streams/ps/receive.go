package ps

import (
	"fmt"
	"time"

	pion "github.com/pion/rtp"

	"snag/probes/streams/rtp"
	"snag/probes/streams/stream"
)

// rate is the RTP clock of program streams (RFC 2250 2.1; GB/T 28181 C.2).
const rate = 90000

// receiver takes RTP packets with a program stream in them. Their bytes are looked
// at where they are; only one that came too early is copied, until its turn.
type receiver struct {
	sink   stream.Sink
	demux  *Demuxer
	header pion.Header
	window rtp.Window[body]
	jitter rtp.Jitter
	told   rtp.Counts
	pt     uint8 // of the last packet
	bytes  uint64
}

type body struct {
	b      []byte
	at     int64
	marker bool
}

func newReceiver(sink stream.Sink) *receiver {
	r := &receiver{sink: sink, demux: NewDemuxer(sink), jitter: rtp.Jitter{Rate: rate}}
	r.window.Rate = rate
	r.window.Give = r.give
	r.window.Keep = func(p *body) { p.b = append([]byte(nil), p.b...) }
	r.window.Restart = func() {
		r.jitter.Reset()
		r.demux.Missing()
	}
	return r
}

// handOn has key pictures and audio handed on to who wants them.
func (r *receiver) handOn(o stream.Options) {
	r.demux.Keys(o.Keys)
	r.demux.Sounds(o.Sounds)
}

// packet takes one; what is no RTP packet is left.
func (r *receiver) packet(at int64, b []byte) {
	n, err := r.header.Unmarshal(b)
	if err != nil || r.header.Version != 2 || r.header.PayloadType >= 72 && r.header.PayloadType <= 76 { // those are RTCP's (RFC 5761 4)
		return
	}
	load := b[n:]
	if r.header.Padding && len(load) > 0 {
		load = load[:len(load)-min(len(load), int(load[len(load)-1]))]
	}
	r.pt = r.header.PayloadType
	r.bytes += uint64(len(load))
	r.jitter.Packet(at, r.header.Timestamp)
	r.window.Put(rtp.Mark{SSRC: r.header.SSRC, Seq: r.header.SequenceNumber, TS: r.header.Timestamp, At: at},
		body{b: load, at: at, marker: r.header.Marker})
	r.count()
}

func (r *receiver) give(p *body, lost int) {
	if lost > 0 {
		r.demux.Missing()
	}
	r.demux.Feed(p.b, p.at)
	if p.marker {
		r.demux.FrameEnds()
		r.sink.Gauge(stream.Jitter, r.jitter.Seconds())
	}
	p.b = nil
}

func (r *receiver) tick(now int64) {
	r.window.Expire(now)
	r.count()
}

func (r *receiver) count() {
	r.told = r.window.Counts.Tell(r.sink, r.told)
}

// hopeless reports that so much came without one pack header that it is none.
func (r *receiver) hopeless() error {
	if r.demux.Packs > 0 || r.bytes < 1<<20 {
		return nil
	}
	return fmt.Errorf("RTP of payload type %d came, and no MPEG program stream is in it (1 MiB without a pack header): was another format agreed on? rtp:// takes formats such as H.264", r.pt)
}

// tick is how long a hole is not looked at at the most.
const tick = 50 * time.Millisecond
