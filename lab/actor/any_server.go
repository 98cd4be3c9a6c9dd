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
			for buf := make([]byte, n[0]); ; {
				if _, err := io.ReadFull(c, buf); err != nil {
					return
				}
				w := <-s.workers
				s.handle(w)
				s.workers <- w
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
	call                                        string
	names                                       bool
	journal                                     int
	line                                        []byte // that each request writes to the standard output
	table                                       sync.Mutex
	served                                      int
	latch, stuckWord                            spinLock
	work, wait, holdFor, holdEvery              atomic.Int64 // µs
	locked, spinning, hanging, stuck, holdWorks atomic.Bool
}

// backendOf is a worker's connection to the service that it calls.
type backendOf struct{ c net.Conn }

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

func (s *service) handle(w *backendOf) {
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
	s.request(w)
}

func (s *service) request(w *backendOf) {
	for s.hanging.Load() {
		time.Sleep(20 * time.Millisecond)
	}
	if s.names {
		_, _ = net.DefaultResolver.LookupIPAddr(context.Background(), "backend.example.")
	}
	if s.call != "" {
		w.ask(s.call)
	}
	burn(micros(&s.work))
	if d := micros(&s.wait); d > 0 {
		time.Sleep(d)
	}
	if s.journal >= 0 {
		if _, err := unix.Write(s.journal, journalEntry); err == nil {
			_ = unix.Fdatasync(s.journal)
		}
	}
	if len(s.line) > 0 {
		_, _ = os.Stdout.Write(s.line)
	}
}

func (w *backendOf) ask(to string) {
	var buf [128]byte
	var err error
	if w.c == nil {
		if w.c, err = net.Dial(networkOf(to), to); err != nil {
			w.c = nil
			return
		}
	}
	if _, err = w.c.Write(buf[:]); err == nil {
		_, err = io.ReadFull(w.c, buf[:])
	}
	if err != nil {
		w.c.Close()
		w.c = nil
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
	case "hang":
		s.hanging.Store(n > 0)
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
