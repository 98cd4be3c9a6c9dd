// Package ingest finds out over which connection a server of this host gets a stream that
// is watched. What publishers send to the server's port is captured, their side only, and
// the sizes of its frames are compared with those that the viewer gets: a server of RTMP
// passes messages on as they are. The connection may come from any host. It is captured for
// some seconds, until the publisher is known. Only headers are looked at, and nothing is
// kept but who sends the stream.
package ingest

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/probes/streams/passive"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
	"snag/recording"
)

const (
	period       = 250 * time.Millisecond
	mostTime     = 10 * time.Second // of one capture
	leastRest    = 30 * time.Second // between two, twice as long each time
	mostRest     = 10 * time.Minute
	mostCaptured = 4   // namespaces in which servers are captured
	mostSenders  = 512 // connections that are compared
	ringMiB      = 2   // each capture's
)

// Finder compares what publishers send with what is watched.
type Finder struct {
	env   *probe.Env
	w     *watch.Watcher
	since recording.Time

	begun, ended time.Time // of the last capture
	rest         time.Duration
	ctx          context.Context // of the capture
	stop         context.CancelFunc
	running      sync.WaitGroup
	asked        bool // a stream was there whose publisher was not known

	mu      sync.Mutex
	known   []*watch.Sender // of this capture
	senders int
	places  int    // namespaces that were captured
	hidden  int    // processes whose namespace may not be known
	dropped uint64 // packets, for want of room
	packets uint64
	failed  error
}

// New returns a finder for the streams of a watch.
func New(env *probe.Env, w *watch.Watcher) *Finder {
	return &Finder{env: env, w: w, since: env.Now()}
}

// Run looks until ctx ends, and leaves the measure's coverage.
func (f *Finder) Run(ctx context.Context) {
	probe.Every(ctx, period, func(time.Duration) { f.tick(ctx, time.Now()) })
	f.halt()
	f.env.Sink.Append(f.coverage())
}

func (f *Finder) tick(ctx context.Context, now time.Time) {
	servers := f.w.Unsent()
	switch {
	case f.stop != nil && (len(servers) == 0 || now.Sub(f.begun) > mostTime):
		f.halt()
		f.ended = now
		if f.rest = min(max(leastRest, 2*f.rest), mostRest); len(servers) == 0 {
			f.rest = 0 // found
		}
	case f.stop == nil && len(servers) > 0 && (f.ended.IsZero() || now.Sub(f.ended) > max(f.rest, leastRest)):
		f.asked, f.begun = true, now
		f.ctx, f.stop = context.WithCancel(ctx)
		f.forget()
		if err := f.begin(f.ctx, servers); err != nil {
			f.fail(err)
		}
	}
}

// forget leaves the connections of the capture before: those that go on are found again.
func (f *Finder) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.known {
		s.Over()
	}
	f.known = nil
}

// halt ends the capture that runs.
func (f *Finder) halt() {
	if f.stop != nil {
		f.stop()
		f.running.Wait()
		f.stop = nil
	}
}

// begin captures in the namespaces of these servers.
func (f *Finder) begin(ctx context.Context, servers []string) error {
	all, err := netns.List(f.env.Proc, netns.NameDirs, f.env.Netns)
	if err != nil {
		return err
	}
	f.hidden = all.Hidden
	places := 0
	for _, n := range all.All {
		in, ports, err := enter(n, servers)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it ended meanwhile
			continue
		case err != nil:
			f.fail(err)
			continue
		case in == nil:
			continue
		}
		f.running.Go(func() {
			defer in.Close()
			f.capture(ctx, in, ports)
		})
		if places++; places == mostCaptured {
			break
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.places = max(f.places, places)
	return nil
}

// enter opens a namespace that has the address of one of the servers, and returns their ports; nil
// where it has none.
func enter(n netns.Namespace, servers []string) (*netns.Handle, []uint16, error) {
	h, err := netns.Open(n)
	if err != nil {
		return nil, nil, err
	}
	var ports []uint16
	err = h.Do(func() error {
		ports, err = portsHere(servers)
		return err
	})
	if err == nil && len(ports) > 0 {
		return h, ports, nil
	}
	return nil, nil, errors.Join(err, h.Close())
}

func (f *Finder) capture(ctx context.Context, in *netns.Handle, ports []uint16) {
	var last passive.Stats
	o := passive.Options{Ports: ports, Netns: in, Blocks: ringMiB, ToPorts: true, Stats: func(s passive.Stats) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.packets += s.Capture.Packets - last.Capture.Packets
		f.dropped += s.Capture.Dropped - last.Capture.Dropped
		last = s
	}}
	if err := passive.Run(ctx, o, f.sender); err != nil {
		f.fail(err)
	}
}

// sender is what a publisher's connection is compared by.
func (f *Finder) sender(c passive.Conn) stream.Sink {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.Side != recording.StreamSidePublisher || f.senders == mostSenders {
		return sink{}
	}
	f.senders++
	s := f.w.Sender(c.Name, c.Named, c.Remote)
	f.known = append(f.known, s)
	return sink{s, f.ctx}
}

func (f *Finder) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		f.failed = err
	}
}

// portsHere are the ports of those servers whose address is one of the namespace of the calling
// thread.
func portsHere(servers []string) (ports []uint16, err error) {
	own, err := ownAddresses()
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		at, ok := addrPort(s)
		if ok && slices.Contains(own, at.Addr()) && !slices.Contains(ports, at.Port()) && len(ports) < mostPorts {
			ports = append(ports, at.Port())
		}
	}
	return ports, nil
}
