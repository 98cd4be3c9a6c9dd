package rtp

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"snag/load"
)

// Run sends until the plan's time is over or ctx is done; what was sent until then is returned.
func Run(ctx context.Context, p Plan) (*Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := load.DescriptorsFor(2 * p.Senders); err != nil {
		return nil, err
	}
	media, control, err := p.addresses(ctx)
	if err != nil {
		return nil, err
	}
	r := &run{plan: p, out: newResult(p), packet: make([]byte, mostPayload+64), filler: make([]byte, mostPayload)}
	defer r.close()
	ssrc := rand.Uint32()
	for i := range p.Senders {
		// Their frames are spread over the interval: senders do not know of each other.
		begins := time.Duration(float64(i) / float64(p.Senders) / p.Shape.FPS * float64(time.Second))
		s := newSender(p.Shape, begins, ssrc+uint32(i))
		r.senders = append(r.senders, s)
		if err := s.connect(media, control, p.Options); err != nil {
			return nil, err
		}
		r.readers.Go(func() { s.listen(s.media) })
		r.readers.Go(func() { s.listen(s.control) })
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with it, and its timer's slack
		done <- r.all(ctx)
	}()
	if err := <-done; err != nil {
		return nil, err
	}
	r.close()
	r.out.take(r.senders)
	return r.out, nil
}

// run is one run of a plan, its sending on one thread.
type run struct {
	plan           Plan
	senders        []*sender
	readers        sync.WaitGroup
	began          time.Time
	out            *Result
	packet, filler []byte
}

func (r *run) close() {
	for _, s := range r.senders {
		s.close()
	}
	r.readers.Wait()
}

// lastReports is how long the receiver's last reports are awaited.
const lastReports = 500 * time.Millisecond

func (r *run) all(ctx context.Context) error {
	if err := load.Pin(r.plan.Options.CPU); err != nil {
		return err
	}
	// Timers of this thread end when they are due, not up to 50 µs later (prctl(2)).
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // a coarser timer is measured as lag
	r.began = time.Now()
	order := byDue(append([]*sender(nil), r.senders...))
	heap.Init(&order)
	until := r.plan.For
	for ctx.Err() == nil {
		s := order[0]
		due := s.due()
		if due >= until {
			break
		}
		now := sleepUntil(ctx, r.began, due)
		if ctx.Err() != nil || now >= until {
			until = min(until, now)
			break
		}
		if err := r.send(s, due, now); err != nil {
			return err
		}
		heap.Fix(&order, 0)
	}
	r.out.Took = min(time.Since(r.began), until)
	for _, s := range r.senders {
		r.out.Unsent += s.shape.between(s.frame, s.i, until-s.begins)
	}
	r.end(ctx)
	return nil
}

func (r *run) send(s *sender, due, now time.Duration) error {
	if s.i == 0 {
		s.begun = now
		r.out.Frames++
		note(r.out.FrameLag, now-due)
		if now >= s.reportAt {
			s.report(now, time.Now(), false)
			s.reportAt = now + r.plan.Shape.reportEvery()
		}
	}
	note(r.out.PacketLag, now-due)
	n, err := s.next(r.packet, r.filler)
	if err != nil {
		return err
	}
	if s.send(r.packet[:n]) {
		r.out.Packets++
		r.out.Bytes += int64(len(s.packet.Payload))
	}
	if s.packet.Marker {
		note(r.out.Burst, time.Since(r.began)-s.begun)
	}
	s.advance()
	return nil
}

// end says goodbye and waits for what the receiver has to say of it, where it reports at all.
func (r *run) end(ctx context.Context) {
	heard := false
	for _, s := range r.senders {
		s.report(time.Since(r.began), time.Now(), true)
		s.mu.Lock()
		heard = heard || s.heard.n > 0
		s.mu.Unlock()
	}
	if heard {
		select {
		case <-ctx.Done():
		case <-time.After(lastReports):
		}
	}
}

// longestSleep bounds how late an interrupt is noticed.
const longestSleep = 50 * time.Millisecond

// sleepUntil returns the time after began, at due or later.
func sleepUntil(ctx context.Context, began time.Time, due time.Duration) time.Duration {
	for {
		now := time.Since(began)
		if now >= due || ctx.Err() != nil {
			return now
		}
		t := unix.NsecToTimespec(min(due-now, longestSleep).Nanoseconds())
		_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil) // cut short by a signal: it sleeps again
	}
}
