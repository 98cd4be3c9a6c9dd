package ingest

import (
	"snag/probes/streams/kin"
	"snag/probes/streams/passive"
	"snag/probes/streams/stream"
)

// sink takes the frames of one connection; without a member, nothing.
type sink struct{ m *kin.Member }

func (s sink) Frame(f stream.Frame) {
	if s.m != nil {
		s.m.Frame(f)
	}
}

// Renamed says that the stream's name became known after all.
func (s sink) Renamed(c passive.Conn) {
	if s.m != nil && c.Named {
		s.m.Called(c.Name)
	}
}

func (sink) Published(int64, string, string) {}
func (sink) Params(stream.Params)            {}
func (sink) Count(stream.Count, uint64)      {}
func (sink) Gauge(stream.Gauge, float64)     {}
