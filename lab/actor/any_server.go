package actor

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

var anyServer = Actor{
	Name:  "any-server",
	About: "the service of lab/anyserver in Go: a goroutine for each connection, of which a number may be at work at a time",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		if err := parse(); err != nil {
			return err
		}
		a := f.Args()
		if len(a) < 6 {
			return fmt.Errorf("it takes LISTEN SIZE WORKERS WORK WAIT CONTROL [NAME=VALUE]..., not %q", a)
		}
		s := &service{journal: -1}
		s.backends.given.L = &s.backends.mu
		var n [4]int // size, workers, work, wait
		for i := range n {
			v, err := strconv.Atoi(a[i+1])
			if err != nil {
				return err
			}
			n[i] = v
		}
		s.work.Store(int64(n[2]))
		s.wait.Store(int64(n[3]))
		for _, more := range a[6:] {
			name, value, _ := strings.Cut(more, "=")
			switch name {
			case "call":
				s.call = value
			case "names":
				s.names = true
			case "needs":
				s.needs = true
			case "limit", "pool":
				s.told(name + " " + value)
			case "refusal":
				s.refusal = value
			case "journal":
				fd, err := unix.Open(value, unix.O_CREAT|unix.O_APPEND|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
				if err != nil {
					return fmt.Errorf("open the journal %s: %w", value, err)
				}
				s.journal = fd
			case "echo":
				n, err := strconv.Atoi(value)
				if err != nil || n < 1 {
					return fmt.Errorf("echo=%s: want a number of bytes", value)
				}
				s.line = append(bytes.Repeat([]byte("x"), n-1), '\n')
			}
		}
		s.workers = make(chan *backendOf, n[1])
		for range n[1] {
			s.workers <- &backendOf{}
		}
		control, err := os.OpenFile(a[5], os.O_RDWR, 0)
		if err != nil {
			return err
		}
		go func() {
			for lines := bufio.NewScanner(control); lines.Scan(); {
				s.told(lines.Text())
			}
		}()
		return serve(ctx, a[0], func(c net.Conn) {
			defer s.conns.Add(-1)
			if n, most := s.conns.Add(1), s.limit.Load(); most > 0 && n > most {
				_, _ = io.WriteString(c, s.refusal)
				return
			}
			for buf := make([]byte, n[0]); ; {
				if _, err := io.ReadFull(c, buf); err != nil {
					return
				}
				w := <-s.workers
				ok := s.handle(w)
				s.workers <- w
				if !ok {
					return
				}
				if _, err := c.Write(buf); err != nil {
					return
				}
			}
		})
	},
}

// service is what requests of the any-server share.
type service struct {
	workers                                     chan *backendOf
	call, refusal                               string
	names, needs                                bool
	backends                                    connPool
	kept, conns, limit                          atomic.Int64
	journal                                     int
	line                                        []byte // that each request writes to the standard output
	table                                       sync.Mutex
	served                                      int
	latch, stuckWord                            spinLock
	work, wait, holdFor, holdEvery              atomic.Int64 // µs
	grow                                        atomic.Int64 // bytes
	locked, spinning, hanging, stuck, holdWorks atomic.Bool
}

// backendOf is a worker's connection to the service that it calls.
type backendOf struct{ c net.Conn }

// connPool is a pool of connections to that service, of so many at most; 0: each worker
// has its own.
type connPool struct {
	mu          sync.Mutex
	given       sync.Cond
	most, taken int
	idle        []*backendOf
}

// borrow takes a connection as soon as one is free; nil where there is no pool.
func (p *connPool) borrow() *backendOf {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most == 0 {
		return nil
	}
	for p.taken >= p.most {
		p.given.Wait()
	}
	p.taken++
	if n := len(p.idle) - 1; n >= 0 {
		w := p.idle[n]
		p.idle = p.idle[:n]
		return w
	}
	return &backendOf{}
}

func (p *connPool) giveBack(w *backendOf) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	p.idle = append(p.idle, w)
	p.trim()
	p.given.Signal()
}

// limit changes how many there are at most.
func (p *connPool) limit(most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = most
	p.trim()
	p.given.Broadcast()
}

// trim closes what is more than there may be.
func (p *connPool) trim() {
	for n := len(p.idle) - 1; n >= 0 && p.taken+n >= p.most; n-- {
		p.idle[n].hangUp()
		p.idle = p.idle[:n]
	}
}

// spinLock is a lock as people write them: taken when nobody has it, and looked at until
// then.
type spinLock struct{ word atomic.Int32 }

func (l *spinLock) take() {
	for !l.word.CompareAndSwap(0, 1) {
		for l.word.Load() != 0 {
		}
	}
}

func (l *spinLock) give() { l.word.Store(0) }

func micros(v *atomic.Int64) time.Duration { return time.Duration(v.Load()) * time.Microsecond }

// handle reports whether the request is to be answered.
func (s *service) handle(w *backendOf) bool {
	s.table.Lock()
	s.served++
	if s.locked.Load() {
		defer s.table.Unlock()
	} else {
		s.table.Unlock()
	}
	if s.spinning.Load() {
		s.latch.take()
		defer s.latch.give()
	}
	return s.request(w)
}

func (s *service) request(w *backendOf) bool {
	for s.hanging.Load() {
		time.Sleep(20 * time.Millisecond)
	}
	if s.names {
		_, _ = net.DefaultResolver.LookupIPAddr(context.Background(), "backend.example.")
	}
	if s.call != "" && !s.ask(w) && s.needs {
		return false
	}
	if n := s.grow.Load(); n > 0 {
		newBallast(int(n)) // and nobody gives it back
	}
	burn(micros(&s.work))
	if d := micros(&s.wait); d > 0 {
		time.Sleep(d)
	}
	if s.journal >= 0 {
		if _, err := unix.Write(s.journal, journalEntry); err != nil || unix.Fdatasync(s.journal) != nil {
			return false
		}
	}
	if len(s.line) > 0 {
		_, _ = os.Stdout.Write(s.line)
	}
	return true
}

// ask asks the other service, on a connection of the pool or on the worker's own.
func (s *service) ask(own *backendOf) bool {
	w := s.backends.borrow()
	if w == nil {
		return own.ask(s.call)
	}
	defer s.backends.giveBack(w)
	return w.ask(s.call)
}

func (w *backendOf) ask(to string) bool {
	var buf [128]byte
	if !w.dial(to) {
		return false
	}
	_, err := w.c.Write(buf[:])
	if err == nil {
		_, err = io.ReadFull(w.c, buf[:])
	}
	if err != nil {
		w.hangUp()
	}
	return err == nil
}

func (w *backendOf) dial(to string) bool {
	if w.c != nil {
		return true
	}
	c, err := net.Dial(networkOf(to), to)
	if err != nil {
		return false
	}
	w.c = c
	return true
}

func (w *backendOf) hangUp() {
	hangUp(w.c)
	w.c = nil
}

// keepConns takes connections of the pool and does not give them back until the next "keep".
func (s *service) keepConns(n, mine int64) {
	for ; n > 0 && s.kept.Load() == mine; n-- {
		w := s.backends.borrow()
		w.dial(s.call)
		defer s.backends.giveBack(w)
	}
	for s.kept.Load() == mine {
		time.Sleep(20 * time.Millisecond)
	}
}

// keep is housekeeping that takes the lock which requests take for a moment, and keeps it
// for longer.
func (s *service) keep() {
	for s.holdFor.Load() > 0 {
		s.table.Lock()
		if s.holdWorks.Load() {
			burn(micros(&s.holdFor))
		} else {
			time.Sleep(micros(&s.holdFor))
		}
		s.table.Unlock()
		time.Sleep(micros(&s.holdEvery))
	}
}

func (s *service) told(line string) {
	w := append(strings.Fields(line), "", "", "")
	n, _ := strconv.ParseInt(w[1], 10, 64)
	switch w[0] {
	case "work":
		s.work.Store(n)
	case "wait":
		s.wait.Store(n)
	case "lock":
		s.locked.Store(n > 0)
	case "spin":
		s.spinning.Store(n > 0)
	case "grow":
		s.grow.Store(n)
	case "die":
		os.Exit(int(n))
	case "hang":
		s.hanging.Store(n > 0)
	case "limit":
		s.limit.Store(n)
	case "pool":
		s.backends.limit(int(n))
	case "keep":
		if mine := s.kept.Add(1); n > 0 {
			go s.keepConns(n, mine)
		}
	case "hold":
		every, _ := strconv.ParseInt(w[2], 10, 64)
		s.holdEvery.Store(every)
		s.holdWorks.Store(w[3] == "w")
		if s.holdFor.Swap(n) == 0 && n > 0 {
			go s.keep()
		}
	case "stuck":
		if n > 0 && !s.stuck.Swap(true) {
			s.stuckWord.take() // and nobody gives it back until the fault ends
		} else if n == 0 && s.stuck.Swap(false) {
			s.stuckWord.give()
		}
		for range n {
			go func() {
				s.stuckWord.take()
				s.stuckWord.give()
			}()
		}
	}
}
