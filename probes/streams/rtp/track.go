package rtp

import (
	pion "github.com/pion/rtp"

	"snag/probes/streams/stream"
)

// piece is what is kept of a packet.
type piece struct {
	at     int64
	ts     uint32
	marker bool
	heads  heads
	b      []byte // its payload, where it may belong to a key picture or to audio that is wanted; else nil
}

// track receives the packets of one m= line of the SDP.
type track struct {
	f      Format
	read   payload
	header pion.Header
	came   piece // here and not on the stack: read would have it allocated
	window Window[piece]
	clock  clock
	jitter Jitter
	told   Counts // as last told to the sink
	offset int64  // ns: the session's clock is the track's less offset
	fixed  bool   // by RTP-Info or by reports, no longer by arrival
	anew   bool   // the sender began anew: the next packet sets the offset
	gone   bool   // said BYE
	latest int64  // arrival of the last frame given: it never goes back
	frame  picture
	keyed  keyed
	heard  heard
	report reports
	out    func(f stream.Frame, first int64)  // first: arrival of its first packet
	begun  func(t *track, at int64, ns int64) // sets offset at the first packet
}

// picture is the one being put together.
type picture struct {
	open, coded, key bool
	ts               uint32
	ns               int64
	size             int
	at               int64 // arrival of its last byte
	first            int64 // arrival of its first packet
	given            bool  // with the same timestamp already
}

func newTrack(f Format) *track {
	t := &track{f: f, read: payloadOf(&f), anew: true}
	t.clock.rate = int64(f.Rate)
	t.jitter.Rate = f.Rate
	t.window.Rate = f.Rate
	t.window.Give = t.give
	t.window.Restart = t.restart
	return t
}

// packet takes one RTP packet; what is none of this track's is not counted.
func (t *track) packet(at int64, b []byte) {
	n, err := t.header.Unmarshal(b)
	if err != nil || t.header.Version != 2 || t.header.PayloadType != t.f.PayloadType {
		return
	}
	body := b[n:]
	if t.header.Padding && len(body) > 0 {
		body = body[:len(body)-min(len(body), int(body[len(body)-1]))]
	}
	t.came = piece{at: at, ts: t.header.Timestamp, marker: t.header.Marker}
	t.read(&t.f, body, &t.came.heads)
	if t.keyed.keys != nil || t.heard.sounds != nil {
		t.came.b = body
	}
	t.jitter.Packet(at, t.came.ts)
	t.report.packet(t.header.SSRC)
	t.window.Put(Mark{SSRC: t.header.SSRC, Seq: t.header.SequenceNumber, TS: t.came.ts, At: at}, t.came)
}

// restart: timestamps of another source begin anywhere (RFC 3550 5.1), so its time
// goes on by arrival.
func (t *track) restart() {
	t.finish()
	t.frame = picture{}
	t.keyed.forget()
	t.heard.drop()
	t.clock.ok = false
	t.anew, t.fixed, t.gone = true, false, false
	t.jitter.Reset()
	t.report = reports{}
}

func (t *track) give(p *piece, lost int) {
	ns := t.clock.at(p.ts)
	if t.begun != nil && t.anew {
		t.begun(t, p.at, ns)
		t.anew = false
	}
	t.latest = max(t.latest, p.at)
	if t.f.Kind == stream.Video {
		t.picture(p, ns)
		if t.keyed.keys != nil {
			t.keyed.add(&t.f, p, lost > 0)
			p.b = nil
		}
	} else {
		t.sound(p, ns)
		if t.heard.sounds != nil {
			t.hear(p, ns-t.offset, lost > 0)
			p.b = nil
		}
	}
}

// picture adds a packet to its picture: the marker ends it (RFC 6184 5.1), and
// another timestamp does where the marker was lost or is not set.
func (t *track) picture(p *piece, ns int64) {
	v := &t.frame
	if v.ts != p.ts || !v.open && !v.given {
		t.finish()
		*v = picture{open: true, ts: p.ts, ns: ns, first: p.at}
	}
	if v.given {
		// Some cameras set the marker on every slice: that is still one picture.
		if !p.heads.begins || !p.heads.coded {
			return
		}
		*v = picture{open: true, ts: p.ts, ns: ns, first: p.at}
	}
	v.size += p.heads.size
	v.coded = v.coded || p.heads.coded
	v.key = v.key || p.heads.key
	v.at = t.latest
	// A marker after parameter sets alone ends no picture.
	if p.marker && v.coded {
		t.finish()
	}
}

// finish gives the picture that is under way.
func (t *track) finish() {
	v := &t.frame
	if v.open && v.coded {
		t.out(stream.Frame{Kind: stream.Video, Key: v.key, Arrival: v.at, PTS: v.ns - t.offset, DTS: v.ns - t.offset, Size: v.size}, v.first)
	}
	v.given = v.open && v.coded
	v.open = false
}

// sound gives the units of a packet, each as long as the one before.
func (t *track) sound(p *piece, ns int64) {
	h := &p.heads
	if !p.marker && !h.whole {
		h.units-- // the fragments before the last say the unit's whole size too
	}
	for i := 0; i < h.units; i++ {
		pts := ns - t.offset + t.clock.ns(int64(i)*t.f.duration)
		t.out(stream.Frame{Kind: t.f.Kind, Arrival: t.latest, PTS: pts, DTS: pts, Size: int(h.sizes[i])}, p.at)
	}
}
