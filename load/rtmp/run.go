package rtmp

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"snag/load"
)

// run is one run of a plan.
type run struct {
	plan    Plan
	address string // with the host's name resolved
	began   time.Time
	out     *Result
	mu      sync.Mutex // of the histograms
}

func (r *run) now() time.Duration { return time.Since(r.began) }

const longest = time.Hour

func (r *run) note(h *hdrhistogram.Histogram, d time.Duration) {
	r.mu.Lock()
	_ = h.RecordValue(min(max(d, 0), longest).Nanoseconds()) // fails beyond longest alone
	r.mu.Unlock()
}

// Run plays and publishes until the plan's time is over or ctx is done. A server that lets nobody in is an error.
func Run(ctx context.Context, p Plan) (*Result, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := load.DescriptorsFor(p.Players + p.Publishers); err != nil {
		return nil, err
	}
	ip, err := net.DefaultResolver.LookupNetIP(ctx, "ip", p.Target.Host)
	if err != nil {
		return nil, fmt.Errorf("find the address of %s: %w", p.Target.Host, err)
	}
	r := &run{plan: p, address: net.JoinHostPort(ip[0].Unmap().String(), p.Target.Port), began: time.Now(), out: newResult(p)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var own sync.WaitGroup
	own.Go(func() { r.watchItself(ctx) })
	r.all(ctx, cancel)
	cancel()
	own.Wait()
	return r.out, r.out.nobody()
}

// all starts the publishers, and once each is let in or is not, the players.
func (r *run) all(ctx context.Context, cancel func()) {
	var publishing, letIn, playing sync.WaitGroup
	letIn.Add(r.plan.Publishers)
	for i := range r.plan.Publishers {
		publishing.Go(func() {
			r.stagger(ctx, i, r.plan.Publishers)
			r.out.Publishers[i] = r.publish(ctx, i, letIn.Done)
		})
	}
	letIn.Wait()
	from := r.now()
	over := time.AfterFunc(r.plan.For, cancel)
	defer over.Stop()
	for i := range r.plan.Players {
		playing.Go(func() {
			r.stagger(ctx, i, r.plan.Players)
			r.out.Players[i] = r.play(ctx, i)
		})
	}
	playing.Wait()
	publishing.Wait()
	r.out.Took = min(r.now()-from, r.plan.For)
}

// stagger waits for a client's turn to join.
func (r *run) stagger(ctx context.Context, i, of int) {
	select {
	case <-ctx.Done():
	case <-time.After(r.plan.joins() * time.Duration(i) / time.Duration(of)):
	}
}

// sampled is how often it is noted how late snag itself is.
const sampled = 20 * time.Millisecond

// watchItself notes how late a goroutine of this process runs: what it takes for a pause of the server may be one
// of its own.
func (r *run) watchItself(ctx context.Context) {
	for ctx.Err() == nil {
		due := time.Now().Add(sampled)
		select {
		case <-ctx.Done():
			return
		case <-time.After(sampled):
			r.note(r.out.Own, time.Since(due))
		}
	}
}
