// Package remotewrite sends what a recorder measures to a store that takes Prometheus' remote write (Prometheus,
// Thanos, Mimir, VictoriaMetrics) or InfluxDB's line protocol: the series of the probes, and the requests of
// each service
// and dependency as counters. What the store does not take waits on the disk. Recording never waits for it. Scrape has
// the same for who asks for it.
package remotewrite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"snag/internal/post"
	"snag/recording"
)

// Options are what is sent, how often, and where to.
type Options struct {
	URL string
	// Format is how; the zero value: RemoteWrite.
	Format Format
	Client *post.Client
	// Labels are added to every series, as instance and job.
	Labels map[string]string
	// Relabel changes the labels of a series, or says that it is not sent; nil: none is changed.
	Relabel func(map[string]string) (map[string]string, bool)
	Every   time.Duration
	// Series is how many a host has at most.
	Series int
	// Dir is where what can't be sent waits, Size how many bytes of it.
	Dir  string
	Size int64
	// More are values of the recorder itself; nil: none.
	More func() []Measured
	Note func(string)
}

// Counts are of a sender since it began.
type Counts struct {
	Sent, Refused, Lost int64 // requests: taken, refused for good, removed since the disk space ran out
	LeftOut             int   // names of series of which some found no room, in the last request
	Waiting             int   // requests that wait on the disk
}

// Sender collects and sends. It is a recording.Sink.
type Sender struct {
	o     Options
	box   outbox
	table *table
	clock clock

	mu    sync.Mutex
	count Counts
	down  bool
	left  string // the names that were noted last
	wake  chan struct{}
}

// Defaults.
const (
	DefaultEvery  = 15 * time.Second
	DefaultSeries = 3000
	// DefaultSize holds a day of a host with 3,000 series, some 20 kB every 15 s.
	DefaultSize = 128 << 20
)

// New makes a sender. An error names what is wrong with the URL.
func New(o Options) (*Sender, error) {
	if o.Format.encode == nil {
		o.Format = RemoteWrite
	}
	if err := o.Format.checked(o.URL); err != nil {
		return nil, err
	}
	s := &Sender{o: o, box: outbox{o.Dir, o.Size}, table: newTable(o.Series), wake: make(chan struct{}, 1)}
	if o.Client != nil {
		o.Client.Dated = s.clock.answered
	}
	return s, nil
}

// Sample implements recording.Sink.
func (s *Sender) Sample(at recording.Time, name string, l recording.Labels, v float64) {
	s.table.Sample(at, name, l, v)
}

// Append implements recording.Sink.
func (s *Sender) Append(row recording.Row) { s.table.Append(row) }

// Counts returns what happened so far.
func (s *Sender) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Run collects and sends until ctx ends. What was collected last is kept for the next run.
func (s *Sender) Run(ctx context.Context) {
	var sending sync.WaitGroup
	sending.Go(func() { s.send(ctx) })
	tick := time.NewTicker(s.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.collect(time.Now())
			sending.Wait()
			return
		case now := <-tick.C:
			s.collect(now)
		}
	}
}

// collect makes one request of what was measured, and keeps it.
func (s *Sender) collect(now time.Time) {
	var more []Measured
	if s.o.More != nil {
		more = s.o.More()
	}
	more = append(more, s.clock.measured(now)...)
	all, left := s.table.take(recording.Time(now.UnixNano()), more)
	all = s.relabelled(all)
	lost := 0
	var err error
	if len(all) > 0 {
		lost, err = s.box.add(now.UnixMilli(), s.o.Format.encode(all))
	}
	s.mu.Lock()
	s.count.LeftOut = len(left)
	s.count.Lost += int64(lost)
	names := short(left)
	changed := names != s.left && names != ""
	s.left = names
	s.mu.Unlock()
	if changed {
		s.o.Note(fmt.Sprintf("%s: %d series are the most that are sent; left out: %s", s.o.Format.Flag, s.o.Series, names))
	}
	if err != nil {
		s.trouble(err)
	}
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

const mostNamed = 6

func short(names []string) string {
	if len(names) > mostNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
	}
	return strings.Join(names, ", ")
}

func (s *Sender) relabelled(all []sample) (out []sample) {
	for _, one := range all {
		l := maps.Clone(s.o.Labels)
		if l == nil {
			l = map[string]string{}
		}
		for _, x := range one.labels {
			l[x.name] = x.value
		}
		if s.o.Relabel != nil {
			var keep bool
			if l, keep = s.o.Relabel(l); !keep {
				continue
			}
		}
		one.labels = one.labels[:0]
		for name, value := range l {
			if value != "" {
				one.labels = append(one.labels, label{name, value})
			}
		}
		sorted(one.labels)
		out = append(out, one)
	}
	return out
}

// send sends what waits, oldest first, until ctx ends.
func (s *Sender) send(ctx context.Context) {
	failed := 0
	for {
		var after time.Duration
		all, _, err := s.box.list()
		if err != nil {
			s.trouble(err)
		}
		s.waiting(len(all))
		for i, name := range all {
			if err = s.one(ctx, name); err != nil {
				break
			}
			failed = 0
			s.waiting(len(all) - i - 1)
		}
		if ctx.Err() != nil {
			return
		}
		var again *post.Failed
		if errors.As(err, &again) {
			failed++
			after = post.Pause(failed, time.Second, again.After, rand.Float64())
		}
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			if after == 0 {
				continue
			}
			select { // the store wants to be left alone
			case <-ctx.Done():
				return
			case <-time.After(after):
			}
		case <-pauseOf(after):
		}
	}
}

// pauseOf ends after a time; 0: never.
func pauseOf(d time.Duration) <-chan time.Time {
	if d == 0 {
		return nil
	}
	return time.After(d)
}

// one sends one request. An error says that it is to be sent again; what is refused for good is removed.
func (s *Sender) one(ctx context.Context, name string) error {
	body, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil // removed for want of space
	}
	if err != nil {
		s.trouble(fmt.Errorf("read what is to be sent: %w", err))
		return nil
	}
	_, err = s.o.Client.Post(ctx, s.o.URL, s.o.Format.header, body)
	var f *post.Failed
	if errors.As(err, &f) && (f.Again || f.Code/100 == 5 || f.Code == 0) {
		if ctx.Err() == nil {
			s.trouble(err)
		}
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if s.count.Refused++; !s.down {
			s.down = true
			s.o.Note(fmt.Sprintf("%s: %v; what is refused is not sent again, recording goes on%s", s.o.Format.Flag, err, s.twice(err)))
		}
	} else if s.count.Sent++; s.down {
		s.down = false
		s.o.Note(fmt.Sprintf("%s: %s works again; requests refused so far: %d, lost for want of space: %d", s.o.Format.Flag, s.o.URL, s.count.Refused, s.count.Lost))
	}
	return os.Remove(name)
}

// twice is a question to who reads a refusal: a store takes no sample that is older than the last one of its series,
// which is so where two recorders send series with the same labels. Prometheus, Thanos and Mimir say it in these words.
func (s *Sender) twice(err error) string {
	text := strings.ToLower(err.Error())
	for _, words := range []string{"out of order", "out-of-order", "duplicate sample", "duplicate-timestamp", "more recent timestamp"} {
		if strings.Contains(text, words) {
			return fmt.Sprintf(". Does another recorder send the same labels? Give each its own: %s-label instance=NAME", s.o.Format.Flag)
		}
	}
	return ""
}

func (s *Sender) waiting(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.Waiting = n
}

// trouble notes the first error of each time without the store.
func (s *Sender) trouble(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.down {
		s.down = true
		s.o.Note(fmt.Sprintf("%s: %v; recording goes on, what is not sent waits in %s", s.o.Format.Flag, err, s.o.Dir))
	}
}
