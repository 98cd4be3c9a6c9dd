package hls

import (
	"sync"

	"snag/probes/streams/stream"
)

// shared lets two playlists, of video and of its audio, give to one sink.
type shared struct {
	mu   sync.Mutex
	sink stream.Sink
}

func (s *shared) Published(at int64, local, remote string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Published(at, local, remote)
}

func (s *shared) Frame(f stream.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Frame(f)
}

func (s *shared) Params(p stream.Params) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Params(p)
}

func (s *shared) Count(c stream.Count, n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Count(c, n)
}

func (s *shared) Gauge(g stream.Gauge, v float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.Gauge(g, v)
}

// Note makes it a stream.Noter.
func (s *shared) Note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream.Note(s.sink, text)
}

// Reason makes it a stream.Reasoner.
func (s *shared) Reason(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream.Reason(s.sink, text)
}

// without passes on all but one kind of tracks: where a playlist of its own has
// the audio, another beside the video would be the same again.
type without struct {
	stream.Sink
	kind stream.Kind
}

func (s without) Frame(f stream.Frame) {
	if f.Kind != s.kind {
		s.Sink.Frame(f)
	}
}

func (s without) Params(p stream.Params) {
	if p.Kind != s.kind {
		s.Sink.Params(p)
	}
}

// Reason passes on.
func (s without) Reason(text string) { stream.Reason(s.Sink, text) }

// quiet passes on frames and their parameters only: the transport is told of by
// the video's playlist.
type quiet struct{ without }

func (quiet) Published(int64, string, string) {}
func (quiet) Gauge(stream.Gauge, float64)     {}
func (quiet) Reason(string)                   {}
