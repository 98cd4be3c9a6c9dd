package otlp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"snag/internal/post"
)

// Sender sends in the background. Nothing that hands it log records ever waits: a collector that does not answer fills
// a bounded queue, whose oldest record is then dropped and counted.
type Sender struct {
	Client   *Client
	Resource Resource
	// Snapshot returns the present metrics; nil: none are sent. Every is how often.
	Snapshot func() []Metric
	Every    time.Duration
	// Note is called with the first error of each time without the collector, and when that is over.
	Note func(string)

	began time.Time
	wake  chan struct{}
	mu    sync.Mutex
	queue []Log
	count Counts
	down  map[string]bool // by what could not be sent; the first one was noted
	rest  time.Time
}

// Counts are of a sender since it began.
type Counts struct {
	Failed  int64 // requests that were given up, or of which a part was refused
	Dropped int64 // log records that no collector has
}

const (
	mostQueued   = 256
	firstMetrics = 5 * time.Second
)

// Add hands over one log record and returns at once.
func (s *Sender) Add(l Log) {
	s.mu.Lock()
	if s.queue = append(s.queue, l); len(s.queue) > mostQueued {
		s.queue = s.queue[1:]
		s.count.Dropped++
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// Counts returns what was lost so far.
func (s *Sender) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Start begins to send. The function that it returns ends it: what is queued is sent once more, for at most that long.
func (s *Sender) Start() (end func(within time.Duration)) {
	s.began, s.wake, s.down = time.Now(), make(chan struct{}, 1), map[string]bool{}
	ctx, stop := context.WithCancel(context.Background())
	var both sync.WaitGroup
	both.Go(func() { s.sendLogs(ctx) })
	if s.Snapshot != nil {
		both.Go(func() { s.sendMetrics(ctx) })
	}
	return func(within time.Duration) {
		stop()
		both.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		s.flush(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.queue); n > 0 {
			s.count.Dropped += int64(n)
			s.Note(fmt.Sprintf("--otlp: %s did not take the last log records: %d", s.Client.Endpoint(), n))
		}
	}
}

func (s *Sender) sendLogs(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			s.flush(ctx)
		}
	}
}

// flush sends what is queued. Records whose request is cut off by the end of ctx are queued again.
func (s *Sender) flush(ctx context.Context) {
	s.mu.Lock()
	batch := s.queue
	s.queue = nil
	s.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	err := s.Client.Logs(ctx, s.Resource, batch)
	if err != nil && ctx.Err() != nil {
		s.mu.Lock()
		s.queue = append(batch, s.queue...)
		over := max(0, len(s.queue)-mostQueued)
		s.queue, s.count.Dropped = s.queue[over:], s.count.Dropped+int64(over)
		s.mu.Unlock()
		return
	}
	lost := 0
	if err != nil {
		lost = len(batch)
		var f *post.Failed
		if errors.As(err, &f) && f.Rejected > 0 {
			lost = int(min(f.Rejected, int64(len(batch))))
		}
	}
	s.took("log records", err, lost)
}

func (s *Sender) sendMetrics(ctx context.Context) {
	// The first ones come early, but not before what they are of has begun.
	next := time.NewTimer(min(s.Every, firstMetrics))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			next.Reset(s.Every)
			s.sample(ctx, time.Now())
		}
	}
}

// sample sends the present metrics, unless the collector asked to be left alone.
func (s *Sender) sample(ctx context.Context, now time.Time) {
	if now.Before(s.rest) {
		return
	}
	err := s.Client.Metrics(ctx, s.Resource, s.Snapshot(), s.began, now)
	if err != nil && ctx.Err() != nil {
		return // cut off: the recorder ends
	}
	var f *post.Failed
	if errors.As(err, &f) {
		s.rest = now.Add(f.After)
	}
	s.took("metrics", err, 0)
}

// took notes what became of a request of which so many log records were lost.
func (s *Sender) took(what string, err error, lost int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.Dropped += int64(lost)
	if err != nil {
		s.count.Failed++
		if len(s.down) == 0 {
			s.Note(fmt.Sprintf("--otlp: %v; recording goes on, and this is reported again only after it has worked", err))
		}
		s.down[what] = true
		return
	}
	if s.down[what] {
		delete(s.down, what)
		if len(s.down) == 0 {
			s.Note(fmt.Sprintf("--otlp: %s works again; log records lost so far: %d", s.Client.Endpoint(), s.count.Dropped))
		}
	}
}
