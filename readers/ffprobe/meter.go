package ffprobe

import (
	"path"
	"strings"

	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/readers/reader"
	"snag/recording"
)

// measured is one stream that is measured as one that is watched.
type measured struct {
	meter  *figures.Meter
	writer *figures.Writer
	look   look
	out    recording.Sink
	events []figures.Event

	base  int64 // Unix ns: 0 on the meter's clock, less lead
	now   int64 // of the meter
	ticks int64

	frame    bool // records are frames, and no packets
	timed    bool // records have a time of arrival
	epoch    bool // and that is the stream's own clock (-use_wallclock_as_timestamps)
	last     [2]int64
	seen     [2]bool
	frames   uint64
	untimed  uint64
	lateBack uint64 // lines that came before the one above them
	first    int64
	kept     held
	changed  recording.Time
	tracks   map[int]byte
	mainOf   [2]int // index of the track that counts, by kind
}

const (
	// lead is where the meter's clock begins: 0 is no time.
	lead = int64(1e9)
	// tick is how often the watch looks; a freeze is told with the first look that is
	// over its threshold.
	tick = int64(2e8)
	// mostTicks of a gap are made: of hours only the ends matter.
	mostTicks = 3000
	// inOrder is a record's time after the one before it, where its arrival is not told,
	// so that a jump of the stream's clock is one.
	inOrder = int64(4e7)
	// isEpoch: a DTS from 2001 on is the wall clock's.
	isEpoch = int64(1e18)
)

func newMeasured(file string, l look, o reader.Options, out recording.Sink) *measured {
	m := &measured{look: l, out: out, changed: recording.Time(o.Modified.UnixNano()), tracks: map[int]byte{}, mainOf: [2]int{-1, -1}}
	options := figures.Options{Name: nameOf(file), Asked: lead, Bursty: l.bursty, Over: true}
	if l.coarse {
		options.Threshold = coarseFreeze
	}
	m.meter = figures.New(options)
	return m
}

// nameOf is what to call the stream of a file: nothing in it names it.
func nameOf(file string) string {
	name := path.Base(file)
	for _, end := range []string{".gz", ".zst", ".txt", ".log", ".json", ".csv"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// begin is called with the first record: then it is known what the clock is.
func (m *measured) begin(name string, r *record) {
	dts, _ := r.time()
	sink := m.out
	switch {
	case r.arrival != 0:
		m.timed, m.base = true, r.arrival-lead
	case dts >= isEpoch:
		m.timed, m.epoch, m.base = true, true, dts-lead
	default:
		sink = &m.kept
	}
	m.writer = figures.NewWriter(sink, recording.Anchor{Wall: m.base}, figures.Place{Name: name, Protocol: "ffprobe", Side: recording.StreamSidePlayer})
	m.first = lead
	m.now = lead
	m.meter.Published(lead, "", "")
}

// take measures a record.
func (m *measured) take(name string, r *record) {
	if !r.whole() {
		m.untimed++
		return
	}
	kind := stream.Video
	if r.kind == 'a' {
		kind = stream.Audio
	}
	if m.mainOf[kind] < 0 {
		m.mainOf[kind] = r.index
	}
	if r.index != m.mainOf[kind] {
		return // a second language, a thumbnail
	}
	if m.writer == nil {
		m.frame = r.frame
	}
	if r.frame != m.frame {
		return // -show_packets -show_frames: each picture is there twice
	}
	if m.writer == nil {
		m.begin(name, r)
	}
	dts, pts := r.time()
	arrival := m.now
	switch {
	case m.epoch:
		arrival = dts - m.base
	case m.timed && r.arrival != 0 && m.look.coarse:
		arrival = m.look.within(r.arrival, dts) - m.base
	case m.timed && r.arrival != 0:
		arrival = r.arrival - m.base
	case !m.timed && m.seen[kind]:
		arrival = m.now
		if step := dts - m.last[kind]; step > 0 && kind == m.main() {
			arrival += min(step, inOrder)
		}
	}
	if arrival < m.now {
		m.lateBack++
		arrival = m.now
	}
	m.advance(arrival)
	m.last[kind], m.seen[kind] = dts, true
	if r.width > 0 && r.height > 0 || r.channels > 0 {
		m.meter.Params(stream.Params{Kind: kind, Width: r.width, Height: r.height, Channels: r.channels})
	}
	m.frames++
	if m.epoch {
		dts, pts = dts-m.base, pts-m.base
	}
	m.meter.Frame(stream.Frame{Kind: kind, Key: r.key, Arrival: arrival, DTS: dts, PTS: pts, Size: max(r.size, 0)})
}

// main is the kind of frames by which time goes on where nothing else tells it.
func (m *measured) main() stream.Kind {
	if m.seen[stream.Video] {
		return stream.Video
	}
	return stream.Audio
}

// advance lets the meter look as often as a watch would.
func (m *measured) advance(to int64) {
	if n := (to - m.now) / tick; n > mostTicks {
		m.tickAt(m.now + tick)
		m.now = to - mostTicks*tick
	}
	for m.now+tick <= to {
		m.now += tick
		m.tickAt(m.now)
	}
	m.now = max(m.now, to)
	if m.now-m.ticks >= tick {
		m.tickAt(m.now)
	}
}

func (m *measured) tickAt(now int64) {
	m.ticks = now
	if s, whole := m.meter.Tick(now); whole {
		m.writer.Second(s, m.meter.Info())
	}
	m.events = m.meter.Events(m.events[:0])
	m.writer.Events(m.events)
}

// end reports what is left, and when it all was.
func (m *measured) end() (first, last recording.Time) {
	if m.writer == nil {
		return 0, 0
	}
	m.meter.Finish(m.now)
	m.tickAt(m.now)
	m.writer.Close(m.now, m.meter.Info(), nil)
	if m.timed {
		return recording.Time(m.first + m.base), recording.Time(m.now + m.base)
	}
	shift := int64(m.changed) - m.now
	m.kept.give(shift, m.out)
	return recording.Time(m.first + shift), m.changed
}

// held keeps what a stream without times of arrival tells until it is known when its
// file ended: steps and jumps of its own clock, and what it is made of. That it stood
// still or was late it can't tell.
type held struct {
	rows []recording.Row
	left uint64
}

// mostHeld rows.
const mostHeld = 20_000

// Sample implements recording.Sink: of a second by a clock that is no clock nothing is
// measured.
func (h *held) Sample(recording.Time, string, recording.Labels, float64) {}

// Append implements recording.Sink.
func (h *held) Append(row recording.Row) {
	if e, ok := row.(recording.Event); ok {
		switch e.Kind {
		case recording.EventStreamSkipped, recording.EventStreamJump, recording.EventStreamChanged:
		default:
			return
		}
	}
	if len(h.rows) >= mostHeld {
		h.left++
		return
	}
	h.rows = append(h.rows, row)
}

func (h *held) give(shift int64, out recording.Sink) {
	move := func(t *recording.Time) {
		if *t != 0 {
			*t += recording.Time(shift)
		}
	}
	for _, row := range h.rows {
		switch v := row.(type) {
		case recording.Event:
			move(&v.T)
			move(&v.End)
			row = v
		case recording.Stream:
			move(&v.T)
			move(&v.Asked)
			move(&v.First)
			move(&v.Last)
			row = v
		}
		out.Append(row)
	}
}
