package main

import (
	"context"
	"net"
	"net/url"
	"sync"
	"time"

	"snag/fleet/drain/health"
	"snag/internal/cli"
	"snag/probes/probe"
	"snag/probes/streams"
	"snag/probes/streams/figures"
	"snag/probes/streams/watch"
	"snag/recording"
)

// drainStreams are the streams that are watched during a drain.
type drainStreams struct {
	watcher *watch.Watcher
	mu      sync.Mutex
	broke   map[string]time.Time // by name: when it last froze or ended
}

func newDrainStreams(urls []string) (*drainStreams, error) {
	s := &drainStreams{broke: map[string]time.Time{}}
	var entries []watch.Entry
	for _, text := range urls {
		e, err := watch.ParseArgument(text, "the plan")
		if err != nil {
			return nil, cli.Usage("health.streams: %v", err)
		}
		if _, err := streams.Open(e.URL); err != nil {
			return nil, cli.Usage("health.streams: %s: %v", watch.ShownURL(e.URL), err)
		}
		entries = append(entries, e)
	}
	s.watcher = watch.New(watch.Options{Open: streams.Open, Anchor: probe.NewAnchor(), Tell: s.happened})
	s.watcher.Set("the plan", entries)
	return s, nil
}

// run watches until the function that it returns is called.
func (s *drainStreams) run(ctx context.Context) (end func()) {
	if s == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { s.watcher.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
		s.watcher.End()
	}
}

// happened notes freezes and ends: a stream that comes again before the next look was broken all the same.
func (s *drainStreams) happened(h watch.Happened) {
	froze := h.Kind == recording.EventStreamFreeze && h.Phase == figures.Begun && !h.Doubt
	if !froze && h.Kind != recording.EventStreamEnded {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broke[h.Stream] = h.T.Wall()
}

func (s *drainStreams) now() (out []health.Stream) {
	snap := s.watcher.Snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range snap.Rows {
		out = append(out, health.Stream{
			Name: r.Name, Server: streamServer(r.URL), Comes: r.State.Comes(), State: r.State.String(), Why: r.Why,
			Starting: r.State == watch.Connecting || r.State == watch.Waiting, Broke: s.broke[r.Name],
		})
	}
	return out
}

// streamServer is the HOST:PORT of a URL.
func streamServer(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "rtmp": "1935", "rtmps": "443", "rtsp": "554"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
