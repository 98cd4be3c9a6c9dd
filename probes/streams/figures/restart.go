package figures

import "snag/recording"

// restart follows whether a stream's timestamps begin anew, as those of a new publisher or of an
// encoder that was started again do.
type restart struct {
	any  bool  // there was a frame before, of this connection or another
	last int64 // its DTS
}

const (
	restartBack  = second      // by less they go back where frames are out of order
	restartBegin = 10 * second // what begins counts from about zero
)

// anew reports whether a frame's timestamps begin anew after those before.
func (r *restart) anew(dts int64) bool {
	return r.any && dts >= 0 && dts < restartBegin && dts < r.last-restartBack
}

// restarted tells of a main frame whose timestamps begin anew. first: it is its connection's first;
// of RTP each connection counts for itself, and within a playlist a jump may be a break (EXT-X-DISCONTINUITY).
func (m *Meter) restarted(at, dts int64, first bool) {
	r := &m.restart
	if r.anew(dts) && (!first || !m.o.OwnClock) && (first || !m.o.Bursty) {
		m.queue.tell(Event{
			ID: m.queue.id(), Kind: recording.EventStreamRestarted, Start: at, End: at, Of: m.main,
			From: decimal(seconds(r.last)), To: decimal(seconds(dts)), Doubt: m.missed.touches(at, at),
		})
	}
	r.any, r.last = true, dts
}
