package actor

import (
	"container/heap"
	"context"
	"io"
	"sync"
	"time"
)

// delayLine writes each packet when it is due.
type delayLine struct {
	start time.Time
	out   io.Writer
	mu    sync.Mutex
	held  packets
	n     uint64
	wake  chan struct{}
}

type packet struct {
	due  time.Duration
	n    uint64 // ties keep their order
	data []byte
}

type packets []packet

func (p packets) Len() int { return len(p) }
func (p packets) Less(i, j int) bool {
	return p[i].due < p[j].due || p[i].due == p[j].due && p[i].n < p[j].n
}
func (p packets) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *packets) Push(x any)   { *p = append(*p, x.(packet)) }
func (p *packets) Pop() any {
	old := *p
	last := old[len(old)-1]
	*p = old[:len(old)-1]
	return last
}

func newDelayLine(start time.Time, out io.Writer) *delayLine {
	return &delayLine{start: start, out: out, wake: make(chan struct{}, 1)}
}

func (l *delayLine) put(due time.Duration, data []byte) {
	l.mu.Lock()
	heap.Push(&l.held, packet{due, l.n, data})
	l.n++
	first := l.held[0].n == l.n-1
	l.mu.Unlock()
	if first {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

func (l *delayLine) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	for ctx.Err() == nil {
		wait := time.Hour
		for {
			data, w, ok := l.next()
			if !ok {
				wait = w
				break
			}
			// A full device queue is loss on the way, as on a real link.
			_, _ = l.out.Write(data)
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-l.wake:
		case <-timer.C:
		}
	}
}

// next returns a packet that is due, or how long until the first one is.
func (l *delayLine) next() ([]byte, time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) == 0 {
		return nil, time.Hour, false
	}
	if wait := l.held[0].due - time.Since(l.start); wait > 0 {
		return nil, wait, false
	}
	return heap.Pop(&l.held).(packet).data, 0, true
}
