package figures

import (
	"context"
	"errors"
	"strconv"

	"snag/probes/streams/stream"
	"snag/recording"
)

// Published takes that the reader was let in.
func (m *Meter) Published(at int64, local, remote string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at = held(at)
	if m.published != 0 { // a reader that connects again by itself
		m.forget(at)
	}
	m.published, m.local, m.remote = max(at, 1), local, remote
	m.total.Connected++
	m.queue.tell(Event{ID: m.queue.id(), Kind: recording.EventStreamPublished, Start: at, End: at})
}

// tellFirst tells of the first frame, once a connection.
func (m *Meter) tellFirst(at int64) {
	if m.firstTold {
		return
	}
	m.firstTold = true
	m.queue.tell(Event{
		ID: m.queue.id(), Kind: recording.EventStreamFirstFrame, Start: at, End: at, Of: m.main,
		Value: seconds(max(at-m.asked, 0)), Unit: "seconds",
	})
}

// Params takes what the stream says of a track. What it does not say stays as it was.
func (m *Meter) Params(p stream.Params) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.Kind > stream.Audio {
		return
	}
	if p.Kind == stream.Video && m.main != stream.Video {
		m.turnToVideo(m.last)
	}
	was := &m.said[p.Kind]
	if p.Codec != "" {
		m.changed(p.Kind, "codec", was.Codec, p.Codec)
		was.Codec = p.Codec
	}
	if p.Width > 0 && p.Height > 0 {
		m.changed(p.Kind, "resolution", size(*was), size(p))
		was.Width, was.Height = p.Width, p.Height
	}
	if p.FPS > 0 {
		m.changed(p.Kind, "rate", number(was.FPS), number(p.FPS))
		was.FPS = p.FPS
	}
	if p.SampleRate > 0 {
		m.changed(p.Kind, "rate", number(float64(was.SampleRate)), number(float64(p.SampleRate)))
		was.SampleRate = p.SampleRate
	}
	if p.Channels > 0 {
		m.changed(p.Kind, "channels", number(float64(was.Channels)), number(float64(p.Channels)))
		was.Channels = p.Channels
	}
	was.Kind = p.Kind
}

func size(p stream.Params) string {
	if p.Width <= 0 {
		return ""
	}
	return strconv.Itoa(p.Width) + "x" + strconv.Itoa(p.Height)
}

func number(v float64) string {
	if v <= 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// changed tells of a parameter that is another now; the first time is no change.
func (m *Meter) changed(of stream.Kind, what, from, to string) {
	if from == "" || from == to {
		return
	}
	m.queue.tell(Event{
		ID: m.queue.id(), Kind: recording.EventStreamChanged, Start: m.last, End: m.last,
		Of: of, What: what, From: from, To: to,
	})
	if of == stream.Video { // what was before is no measure of it
		m.endFall(m.last, "the picture became another")
		m.falls.forget()
	}
}

// Reason takes why no frames come, "" for nothing.
func (m *Meter) Reason(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reason = text
	if text != "" && m.freeze.stands {
		m.freeze.reason = text
	}
}

// Count takes what a transport counted since its last call.
func (m *Meter) Count(c stream.Count, n uint64) {
	if c >= stream.Counts {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.transport.count[c] += n
	m.total.Count[c] += n
	if c == stream.ReceiverDropped || c == stream.CaptureLost {
		m.own.now += n
	}
}

// Gauge takes what a transport measured.
func (m *Meter) Gauge(g stream.Gauge, v float64) {
	if g >= stream.Gauges || v != v {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.transport.gauge[g] = known(v)
}

// transport is what this second's Transport will be.
type transport struct {
	count [stream.Counts]uint64
	gauge [stream.Gauges]Value
}

// End takes why the reader returned: refused, ended, or that it can't be read. Every
// interval ends with it. nil and a context's end are the watch's own stop: then
// nothing is told, and what stands goes on as far as anyone knows.
func (m *Meter) End(now int64, err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now = held(now)
	m.closeAll(now)
	kind, why := recording.EventStreamEnded, err.Error()
	var refused *stream.Refused
	var ended *stream.Ended
	switch {
	case errors.As(err, &refused):
		kind, why = recording.EventStreamRefused, refused.Why
	case errors.As(err, &ended):
		why = ended.Why
	case m.published == 0:
		kind = recording.EventStreamRefused // it was never let in
	}
	m.queue.tell(Event{ID: m.queue.id(), Kind: kind, Start: now, End: now, Why: why})
	m.published = 0
	m.forget(now)
}

// closeAll ends every interval at now.
func (m *Meter) closeAll(now int64) {
	now = max(now, m.last) // nothing ends before what has come
	m.closeFreeze(now)
	m.endLate(now)
	m.endSlow(now)
	m.endFall(now, "the stream ended")
	m.flushSteps()
}

func seconds(ns int64) float64 { return float64(ns) / float64(second) }
