package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

var tunRelay = Actor{
	Name:  "tun-relay",
	About: "joins two namespaces by a path with loss, delay, jitter, reordering and a rate; dead for good after SIGUSR1; SIGUSR2 switches between all that and its delay alone",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		a := f.String("a", "", "namespace/device/address, as in lab-left/tun0/10.9.0.1/24")
		b := f.String("b", "", "the other end")
		var p Path
		f.Float64Var(&p.Loss, "loss", 0, "share of packets lost each way, 0–1")
		f.Float64Var(&p.Duplicate, "duplicate", 0, "share of packets sent twice, 0–1")
		f.DurationVar(&p.Delay, "delay", 0, "one way")
		f.DurationVar(&p.Jitter, "jitter", 0, "added, even between 0 and this, order kept")
		f.Float64Var(&p.Reorder, "reorder", 0, "share of packets held back by --hold, so that others overtake")
		f.DurationVar(&p.Hold, "hold", 5*time.Millisecond, "how long these are held back")
		f.Float64Var(&p.Rate, "rate", 0, "bytes per second from a to b; 0: no limit")
		f.IntVar(&p.Queue, "queue", 0, "bytes that may wait for the rate; 0: no limit")
		f.IntVar(&p.MaxSize, "max-size", 0, "packets larger than this vanish, as in a black hole; 0: none")
		seed := f.Uint64("seed", 1, "of the random numbers")
		clean := f.Bool("clean", false, "begins with the delay alone")
		if err := parse(); err != nil {
			return err
		}
		left, err := openTun(*a)
		if err != nil {
			return err
		}
		right, err := openTun(*b)
		if err != nil {
			return err
		}
		p.clean = switched(ctx, unix.SIGUSR2, *clean, "clean")
		ready()
		back := p
		back.Rate, back.Queue = 0, 0
		errs := make(chan error, 2)
		dead := deadOn(ctx, unix.SIGUSR1)
		go func() { errs <- carry(ctx, left, right, newFate(p, *seed), dead) }()
		go func() { errs <- carry(ctx, right, left, newFate(back, *seed+1), dead) }()
		select {
		case err := <-errs:
			return err
		case <-ctx.Done():
			return nil
		}
	},
}

// Path is what a packet meets on its way.
type Path struct {
	Loss, Duplicate, Reorder float64
	Delay, Jitter, Hold      time.Duration
	Rate                     float64 // bytes/s
	Queue, MaxSize           int     // bytes

	clean *atomic.Bool // true: only Delay counts; nil is false
}

// fate decides for one direction when each packet arrives. It is a function of
// the seed and of the packets alone.
type fate struct {
	Path
	rnd  *rand.Rand
	free time.Duration // when the line is free again
	last time.Duration // when the last packet in order is due
}

func newFate(p Path, seed uint64) *fate {
	return &fate{Path: p, rnd: rand.New(rand.NewPCG(seed, 0x5e3a9))}
}

// of returns when a packet that came at that time is due, none if it is lost,
// two times if it is sent twice.
func (f *fate) of(at time.Duration, size int) []time.Duration {
	if f.clean != nil && f.clean.Load() {
		f.last = max(at+f.Delay, f.last)
		return []time.Duration{f.last}
	}
	if f.MaxSize > 0 && size > f.MaxSize || f.rnd.Float64() < f.Loss {
		return nil
	}
	out := at
	if f.Rate > 0 {
		waiting := time.Duration(0)
		if f.free > at {
			waiting = f.free - at
		}
		if f.Queue > 0 && waiting.Seconds()*f.Rate+float64(size) > float64(f.Queue) {
			return nil
		}
		out = at + waiting + time.Duration(float64(size)/f.Rate*float64(time.Second))
		f.free = out
	}
	due := out + f.Delay + time.Duration(f.rnd.Float64()*float64(f.Jitter))
	if f.rnd.Float64() < f.Reorder {
		due += f.Hold
	} else {
		due = max(due, f.last)
		f.last = due
	}
	if f.rnd.Float64() < f.Duplicate {
		return []time.Duration{due, due}
	}
	return []time.Duration{due}
}

// deadOn is true once the signal came: from then on the path carries nothing, as
// a cable that was pulled far away.
func deadOn(ctx context.Context, sig os.Signal) *atomic.Bool {
	var dead atomic.Bool
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, sig)
	go func() {
		select {
		case <-ch:
			dead.Store(true)
			fmt.Println("dead")
		case <-ctx.Done():
		}
	}()
	return &dead
}

// switched turns over with each of these signals, and prints what it is with its value.
func switched(ctx context.Context, sig os.Signal, first bool, what string) *atomic.Bool {
	var now atomic.Bool
	now.Store(first)
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, sig)
	go func() {
		for {
			select {
			case <-ch:
				now.Store(!now.Load())
				fmt.Println(what, now.Load())
			case <-ctx.Done():
				return
			}
		}
	}()
	return &now
}

// carry takes packets from one device to the other until the context ends.
func carry(ctx context.Context, from, to *os.File, f *fate, dead *atomic.Bool) error {
	start := time.Now()
	line := newDelayLine(start, to)
	go line.run(ctx)
	buf := make([]byte, 65536)
	for ctx.Err() == nil {
		n, err := from.Read(buf)
		if errors.Is(err, os.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", from.Name(), err)
		}
		if dead.Load() {
			continue
		}
		for _, due := range f.of(time.Since(start), n) {
			line.put(due, append([]byte(nil), buf[:n]...))
		}
	}
	return nil
}

// parseEnd splits namespace/device/address/bits.
func parseEnd(s string) (ns, dev, addr string, err error) {
	p := strings.SplitN(s, "/", 3)
	if len(p) != 3 || p[1] == "" || !strings.Contains(p[2], "/") {
		return "", "", "", fmt.Errorf("end %q: want namespace/device/address/bits", s)
	}
	return p[0], p[1], p[2], nil
}
