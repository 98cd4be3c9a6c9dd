package actor

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var rrServer = Actor{
	Name:  "rr-server",
	About: "answers requests, each after some work on the CPU",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port, or the path of a UNIX socket")
		spin := f.Duration("spin", 0, "CPU time of a request")
		wait := f.Duration("wait", 0, "time that a request takes besides, without the CPU")
		hang := f.Duration("hang", 0, "answer nothing for this long after SIGUSR1")
		size := f.Int("size", 128, "bytes of a request and of its answer")
		split := f.Int("split", 0, "answers in two writes, the first of so many bytes, without TCP_NODELAY")
		resets := f.Float64("resets", 0, "share of requests, 0–1, that are answered by a reset while SIGUSR2 has switched it on")
		unread := f.Bool("unread", false, "resets come from closing with half of the request unread, not from SO_LINGER 0")
		leaks := f.Bool("leaks", false, "keeps the descriptors of connections that ended while SIGUSR2 has switched it on")
		library := f.String("library", "", "codec library that says what a request costs, besides --spin")
		if err := parse(); err != nil {
			return err
		}
		if *library != "" {
			work, err := loadCodecLibrary(*library)
			if err != nil {
				return err
			}
			*spin += work
		}
		hangs := told()
		broken := switched(ctx, syscall.SIGUSR2, false, "broken")
		leaked := leak{on: broken}
		if *leaks {
			go leaked.mend(ctx)
		}
		return serve(ctx, *listen, func(c net.Conn) {
			if *leaks {
				defer leaked.keep(c)
			}
			if tcp, ok := c.(*net.TCPConn); ok && *split > 0 {
				_ = tcp.SetNoDelay(false)
			}
			buf := make([]byte, *size)
			for {
				if broken.Load() && rand.Float64() < *resets {
					resetBy(c, buf, *unread)
					return
				}
				if _, err := io.ReadFull(c, buf); err != nil {
					return
				}
				if at := hangs.Load(); at != 0 {
					sleep(ctx, *hang-time.Since(time.Unix(0, at)))
				}
				burn(*spin)
				sleep(ctx, *wait)
				if err := writeIn(c, buf, *split); err != nil {
					return
				}
			}
		})
	},
}

// writeIn writes in two parts, the first of so many bytes, or at once.
func writeIn(c net.Conn, buf []byte, split int) error {
	if split > 0 && split < len(buf) {
		if _, err := c.Write(buf[:split]); err != nil {
			return err
		}
		buf = buf[split:]
	}
	_, err := c.Write(buf)
	return err
}

// resetBy takes a request and ends its connection by a reset.
func resetBy(c net.Conn, buf []byte, unread bool) {
	if unread {
		buf = buf[:len(buf)/2]
	}
	if _, err := io.ReadFull(c, buf); err != nil {
		return
	}
	if tcp, ok := c.(*net.TCPConn); ok && !unread {
		_ = tcp.SetLinger(0)
	}
}

// told is when SIGUSR1 came, ns since 1970; 0 until then.
func told() *atomic.Int64 {
	var at atomic.Int64
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	go func() {
		<-c
		at.Store(time.Now().UnixNano())
	}()
	return &at
}

var rrClient = Actor{
	Name:  "rr-client",
	About: "sends a request on each connection at a rate, waits for the answer, prints the latencies",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "address:port")
		conns := f.Int("conns", 1, "connections")
		every := f.Duration("every", 100*time.Millisecond, "a request this often on each, or as soon as the one before was answered")
		size := f.Int("size", 128, "bytes of a request and of its answer")
		open := f.Bool("open", false, "send at the rate whether the one before was answered or not")
		if err := parse(); err != nil {
			return err
		}
		send := ask
		if *open {
			send = stream
		}
		var lat latencies
		errs := make(chan error, *conns)
		for i := range *conns {
			c, err := net.Dial("tcp4", *to)
			if err != nil {
				return err
			}
			defer c.Close()
			// Spread over the interval, so that they do not come as one burst.
			wait := time.Duration(i) * *every / time.Duration(*conns)
			go func() {
				sleep(ctx, wait)
				errs <- send(ctx, c, *every, *size, &lat)
			}()
		}
		ready()
		for {
			select {
			case err := <-errs:
				return err
			case <-ctx.Done():
				return nil
			case <-time.After(time.Second):
				if p50, p99, n := lat.take(); n > 0 {
					fmt.Printf("answers %d p50_ms %.1f p99_ms %.1f\n", n, p50*1e3, p99*1e3)
				}
			}
		}
	},
}

func ask(ctx context.Context, c net.Conn, every time.Duration, size int, lat *latencies) error {
	buf := make([]byte, size)
	for next := time.Now(); ; {
		start := time.Now()
		if _, err := c.Write(buf); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, buf); err != nil {
			return err
		}
		lat.add(time.Since(start).Seconds())
		if next = next.Add(every); time.Since(next) > 0 {
			next = time.Now()
		}
		if !sleep(ctx, time.Until(next)) {
			return nil
		}
	}
}

// maxUnanswered bounds what an open client may have under way: beyond it, it waits
// as every client must in the end.
const maxUnanswered = 4096

// stream sends requests at the rate, and reads their answers beside that.
func stream(ctx context.Context, c net.Conn, every time.Duration, size int, lat *latencies) error {
	sent := make(chan time.Time, maxUnanswered)
	failed := make(chan error, 1)
	go func() {
		buf := make([]byte, size)
		for at := range sent {
			if _, err := io.ReadFull(c, buf); err != nil {
				failed <- err
				return
			}
			lat.add(time.Since(at).Seconds())
		}
	}()
	defer close(sent)
	buf := make([]byte, size)
	for next := time.Now(); ; {
		select {
		case sent <- time.Now():
		case err := <-failed:
			return err
		case <-ctx.Done():
			return nil
		}
		if _, err := c.Write(buf); err != nil {
			return err
		}
		next = next.Add(every)
		if !sleep(ctx, time.Until(next)) {
			return nil
		}
	}
}

// latencies of the last second, in seconds.
type latencies struct {
	mu sync.Mutex
	v  []float64
}

func (l *latencies) add(s float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.v = append(l.v, s)
}

func (l *latencies) take() (p50, p99 float64, n int) {
	l.mu.Lock()
	v := l.v
	l.v = nil
	l.mu.Unlock()
	if len(v) == 0 {
		return 0, 0, 0
	}
	slices.Sort(v)
	return v[len(v)/2], v[len(v)*99/100], len(v)
}

var idleServer = Actor{
	Name:  "idle-server",
	About: "listens and holds an idle connection to itself",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		if err := parse(); err != nil {
			return err
		}
		go func() {
			for ctx.Err() == nil {
				c, err := net.Dial("tcp4", *listen)
				if err != nil {
					time.Sleep(50 * time.Millisecond)
					continue
				}
				<-ctx.Done()
				c.Close()
			}
		}()
		return serve(ctx, *listen, func(c net.Conn) { _, _ = io.Copy(os.Stdout, c) })
	},
}
