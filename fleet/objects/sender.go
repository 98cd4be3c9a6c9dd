package objects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"snag/recorder"
)

// Plan is what is sent, and where to.
type Plan struct {
	Store Store
	Ring  recorder.Ring
	// Host is this host's name, Snag this program's version.
	Host, Snag string
	// Current is the number of the incident that goes on; 0: none.
	Current func() int
	// Pack packs the folder of a recording into a file.
	Pack func(ctx context.Context, folder, file string) error
	Note func(string)

	every, between, first time.Duration // tests have shorter ones
}

// How often the ring is looked at, the pause between two incidents, and the first and the longest after a failure.
const (
	defaultEvery   = time.Minute
	defaultBetween = time.Second
	firstPause     = 2 * time.Second
	longestPause   = 5 * time.Minute
)

// Counts are of a sender since it began.
type Counts struct {
	// Sent are incidents that the store took, each time that it did. Refused are files that it never takes, Lost
	// incidents that were removed from the ring before the store had them, Failed tries that failed.
	Sent, Refused, Lost, Failed int64
	Bytes                       int64 // of the incidents that were sent
	Waiting                     int   // incidents that are due
}

// Sender sends incidents, one after the other. Recording never waits for it.
type Sender struct {
	p    Plan
	host string
	wake chan struct{}
	sent *sent // of the goroutine that runs

	mu    sync.Mutex
	count Counts
	noted string // the code of the last failure that was noted; "": the store works
}

// NewSender makes a sender.
func NewSender(p Plan) *Sender {
	if p.every == 0 {
		p.every, p.between, p.first = defaultEvery, defaultBetween, firstPause
	}
	return &Sender{p: p, host: HostName(p.Host), wake: make(chan struct{}, 1)}
}

// Wake has the ring looked at now: an incident began or ended.
func (s *Sender) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// Counts returns what happened so far.
func (s *Sender) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *Sender) add(change func(*Counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.count)
}

// Run sends until ctx ends. What is not sent then is sent by the next run.
func (s *Sender) Run(ctx context.Context) {
	var err error
	if s.sent, err = readSent(s.p.Ring.Dir, s.p.Store.String()); err != nil {
		s.note(err.Error())
	}
	failed := 0
	for {
		wake, wait := s.wake, s.p.every
		switch err := s.round(ctx); {
		case ctx.Err() != nil:
			return
		case err == nil:
			failed = 0
		default: // an incident that ends does not hurry the store
			failed++
			wake, wait = nil, pause(failed, s.p.first, err, rand.Float64())
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-time.After(wait):
		}
	}
}

// pause is how long to wait after the nth failure: twice as long each time, half of it at random, so that hosts do not
// come all at once; never less than what the store asked for. random is from 0 to 1.
func pause(n int, first time.Duration, err error, random float64) time.Duration {
	wait := min(first<<min(n-1, 12), longestPause)
	wait = wait/2 + time.Duration(random*float64(wait)/2)
	var f *Failed
	if errors.As(err, &f) {
		wait = max(wait, min(f.After, time.Hour))
	}
	return wait
}

// round sends all that is due, the oldest first, until one fails.
func (s *Sender) round(ctx context.Context) error {
	all, err := s.p.Ring.Incidents()
	if err != nil && len(all) == 0 {
		return nil //nolint:nilerr // there is no ring yet, or the recorder says what is wrong with it
	}
	lost, changed := s.sent.match(s.host, all, s.gone)
	if len(lost) > 0 {
		s.add(func(c *Counts) { c.Lost += int64(len(lost)) })
		s.note(fmt.Sprintf("removed from the ring before the store had it: %s; %d in all", strings.Join(lost[:min(len(lost), 3)], ", "), s.Counts().Lost))
	}
	if changed {
		s.save()
	}
	current := s.p.Current()
	waiting := slices.DeleteFunc(all, func(i recorder.Incident) bool {
		return !due(i, over(i, current), s.sent.Incidents[i.ID], time.Now())
	})
	for n, i := range waiting {
		s.add(func(c *Counts) { c.Waiting = len(waiting) - n })
		if err := s.send(ctx, i, over(i, current)); err != nil {
			if ctx.Err() == nil {
				s.trouble(err)
			}
			return err
		}
		s.add(func(c *Counts) { c.Waiting = len(waiting) - n - 1 })
		s.works()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(s.p.between):
		}
	}
	s.add(func(c *Counts) { c.Waiting = 0 })
	return nil
}

// over: an incident without an end whose recorder was stopped has none any more.
func over(i recorder.Incident, current int) bool { return !i.End.IsZero() || i.ID != current }

// gone reports whether an incident's folder is removed.
func (s *Sender) gone(id int) bool {
	_, err := os.Stat(filepath.Dir(s.p.Ring.Recording(id)))
	return errors.Is(err, fs.ErrNotExist)
}

func (s *Sender) save() {
	if err := s.sent.save(); err != nil {
		s.note(err.Error())
	}
}
