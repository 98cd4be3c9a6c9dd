package ts

import "snag/probes/streams/stream"

// Demuxer gives the frames of one program: of its first video track and its first
// audio track that it can read. Continuity is checked on every PID.
type Demuxer struct {
	Program uint16 // program_number to read; 0 is the first in the PAT
	Live    bool   // packets come at their own pace: PCR is measured against arrival

	Keys   stream.Keys   // takes key pictures whole; nil: nobody
	Sounds stream.Sounds // takes audio; nil: nobody

	sink    stream.Sink
	framer  framer
	each    func([]byte) // d.packet, made once
	onPAT   func([]byte)
	onPMT   func([]byte)
	arrival int64

	index    [1 << 13]uint8 // by PID, into counters; 0 is none yet
	counters [pids + 1]counter
	known    int

	pat, pmt       section
	number, pmtPID uint16
	version        uint8 // of the PMT
	table          table
	video, audio   track
	clock          stream.Clock90
	pcr            pcrClock
	given          bool   // a frame was
	Scrambled      uint64 // packets of the tracks whose payload can't be read
	Packets        uint64 // all, null packets too
}

// New makes a Demuxer that gives to sink.
func New(sink stream.Sink) *Demuxer {
	d := &Demuxer{sink: sink}
	d.each, d.onPAT, d.onPMT = d.packet, d.gotPAT, d.gotPMT
	d.video.init(d)
	d.audio.init(d)
	return d
}

// Feed takes the next bytes of a stream in any pieces, with when they came (ns).
func (d *Demuxer) Feed(b []byte, arrival int64) {
	d.arrival = arrival
	d.framer.feed(b, d.each)
}

// Datagram takes one that holds whole packets, as it should.
func (d *Demuxer) Datagram(b []byte, arrival int64) {
	d.arrival = arrival
	d.framer.datagram(b, d.each)
}

// Flush gives the frames under way: the stream, or a segment of it, has ended.
func (d *Demuxer) Flush() {
	d.framer.flush(d.each)
	d.video.flush()
	d.audio.flush()
}

// Idle gives the picture under way when nothing of it came for so long (ns) that it
// must be whole: its PES packet's length is not told, and the next one's start is
// yet to come, which may be after a freeze.
func (d *Demuxer) Idle(now, wait int64) {
	if t := &d.video; t.begun && t.coded && now-t.lastByte > wait {
		t.flush()
	}
}

// Segment begins another file of the same stream: its packets are counted anew
// (RFC 8216 3.2 does not ask that they be counted on), its clock goes on.
func (d *Demuxer) Segment() {
	d.Flush()
	d.framer = framer{Lost: d.framer.Lost, Waste: d.framer.Waste}
	for i := range d.counters {
		d.counters[i].seen = false
	}
}

// Excuse says that packets are missing for which the stream is not to blame: the
// steps that show it are not counted.
func (d *Demuxer) Excuse() {
	for i := range d.counters {
		d.counters[i].excused = d.counters[i].seen
	}
}

// Synced reports whether packets are there.
func (d *Demuxer) Synced() bool { return d.Packets > 0 }

// Tracks reports whether a program was found whose tracks can be read.
func (d *Demuxer) Tracks() bool { return d.video.on || d.audio.on }

// Wasted is how many bytes were no packets, and how often sync was lost.
func (d *Demuxer) Wasted() (bytes, times uint64) { return d.framer.Waste, d.framer.Lost }

func (d *Demuxer) packet(b []byte) {
	d.Packets++
	var p packet
	if !p.parse(b) || p.pid == nullPID || p.broken {
		return
	}
	was := d.count(&p)
	if was == duplicate {
		return
	}
	lost := was == gap || was == announced
	if p.hasPCR && p.pid == d.table.pcr && d.table.n > 0 {
		d.gotPCR(&p)
	}
	if p.payload == nil {
		return
	}
	switch {
	case p.pid == 0:
		d.pat.add(p.payload, p.start, lost, d.onPAT)
	case p.pid == d.pmtPID && d.number != 0:
		d.pmt.add(p.payload, p.start, lost, d.onPMT)
	case d.video.on && p.pid == d.video.pid:
		d.track(&d.video, &p, lost)
	case d.audio.on && p.pid == d.audio.pid:
		d.track(&d.audio, &p, lost)
	}
}

func (d *Demuxer) track(t *track, p *packet, lost bool) {
	if p.scrambled {
		d.Scrambled++
		return
	}
	t.packet(p, lost)
}

// count checks the packet's counter and tells of gaps.
func (d *Demuxer) count(p *packet) verdict {
	i := d.index[p.pid]
	if i == 0 {
		if d.known == pids {
			return continuous
		}
		d.known++
		i = uint8(d.known)
		d.index[p.pid] = i
	}
	excused := d.counters[i].excused
	v := d.counters[i].check(p)
	if v == gap && !excused {
		d.sink.Count(stream.ContinuityErrors, 1)
	}
	return v
}

func (d *Demuxer) gotPCR(p *packet) {
	if p.discontinuity { // on this PID it tells of another time base (2.4.3.5)
		d.sink.Count(stream.Discontinuities, 1)
		d.pcr.reset()
	}
	if !d.Live {
		return
	}
	if jitter, ok := d.pcr.add(p.pcr, d.arrival); ok {
		d.sink.Gauge(stream.PCRJitter, jitter)
	}
}

func (d *Demuxer) gotPAT(b []byte) {
	if d.number != 0 && d.Program == 0 { // stay with it while it is there
		if _, pid, ok := program(b, d.number); ok {
			d.follow(d.number, pid)
			return
		}
		if len(b) >= 8 && b[7] > 0 { // last_section_number: it may be in another
			return
		}
	}
	if number, pid, ok := program(b, d.Program); ok {
		d.follow(number, pid)
	}
}

func (d *Demuxer) follow(number, pid uint16) {
	if d.number == number && d.pmtPID == pid {
		return
	}
	d.number, d.pmtPID = number, pid
	d.pmt.n, d.pmt.want = 0, 0
	d.version = noVersion
}

const noVersion = 0xff

func (d *Demuxer) gotPMT(b []byte) {
	if len(b) < 12 || b[5] == d.version {
		return
	}
	t, ok := readPMT(b, d.number)
	if !ok {
		return
	}
	d.version, d.table = b[5], t
	d.choose(&d.video, stream.Video)
	d.choose(&d.audio, stream.Audio)
}

// choose sets a track to the first stream of its kind; one that stays what it
// was goes on undisturbed.
func (d *Demuxer) choose(t *track, kind stream.Kind) {
	for _, e := range d.table.entries[:d.table.n] {
		if e.kind != kind || e.codec == "" {
			continue
		}
		if !t.on || t.entry != e {
			t.flush()
			t.begin(e)
		}
		return
	}
	if t.on {
		t.flush()
		t.on = false
	}
}
