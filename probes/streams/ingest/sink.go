package ingest

import (
	"context"

	"snag/probes/streams/passive"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
)

// sink takes the frames of one connection; without a sender, nothing.
type sink struct {
	of  *watch.Sender
	ctx context.Context // of the capture
}

func (s sink) Frame(f stream.Frame) {
	if s.of != nil {
		s.of.Frame(f)
	}
}

// Renamed says that the stream's name became known after all.
func (s sink) Renamed(c passive.Conn) {
	if s.of != nil && c.Named {
		s.of.Called(c.Name)
	}
}

// End is of the connection, or of the capture: then it may go on.
func (s sink) End(int64, error) {
	if s.of != nil && s.ctx.Err() == nil {
		s.of.Over()
	}
}

func (sink) Published(int64, string, string) {}
func (sink) Params(stream.Params)            {}
func (sink) Count(stream.Count, uint64)      {}
func (sink) Gauge(stream.Gauge, float64)     {}
