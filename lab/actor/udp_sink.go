package actor

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab/clientlog"
)

var udpSink = Actor{
	Name:  "udp-sink",
	About: "receives datagrams, with a small buffer, slowly, or with its port closed at times",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		var s sink
		f.StringVar(&s.listen, "listen", "", "address:port")
		f.IntVar(&s.rcvbuf, "rcvbuf", 0, "SO_RCVBUF asked for, bytes; 0 leaves the default")
		f.IntVar(&s.force, "force-rcvbuf", 0, "receive buffer, bytes, beyond rmem_max too: so that nothing is lost there")
		f.DurationVar(&s.work, "work", 0, "time spent on each datagram before the next is read")
		f.DurationVar(&s.stallEvery, "stall-every", 0, "stops reading this often; 0 never")
		f.DurationVar(&s.stall, "stall", 0, "stops reading for this long")
		f.DurationVar(&s.open, "open", 0, "closes the port after this; 0 never")
		f.DurationVar(&s.closed, "closed", 0, "opens it again after this; 0 never")
		f.DurationVar(&s.slowWork, "slow", 0, "time spent on each datagram while SIGUSR1 has switched it on")
		f.BoolVar(&s.busy, "busy", false, "the time spent on a datagram is CPU time")
		path := f.String("log", "", "file for the client's log")
		if err := parse(); err != nil {
			return err
		}
		log, err := clientlog.Create(*path)
		if err != nil {
			return err
		}
		defer log.Close()
		s.log = log
		s.slow = switched(ctx, unix.SIGUSR1, false, "slow")
		s.shut = switched(ctx, unix.SIGUSR2, false, "shut")
		return s.run(ctx)
	},
}

type sink struct {
	listen              string
	rcvbuf, force       int
	work                time.Duration
	stallEvery, stall   time.Duration
	open, closed        time.Duration
	slowWork            time.Duration
	busy                bool
	slow, shut          *atomic.Bool // shut: the port is closed while SIGUSR2 has switched it on
	log                 *clientlog.Writer
	received, lost      uint64
	next                uint64
	lastStall, lastTold time.Time
}

func (s *sink) run(ctx context.Context) error {
	for first := true; ; first = false {
		c, err := s.bind(ctx)
		if err != nil {
			return err
		}
		if first {
			ready()
		}
		err = s.read(ctx, c)
		c.Close()
		if err != nil || ctx.Err() != nil {
			return err
		}
		fmt.Println("closed")
		if s.shut.Load() {
			for s.shut.Load() {
				if !sleep(ctx, 10*time.Millisecond) {
					return nil
				}
			}
			fmt.Println("reopened")
			continue
		}
		if s.closed == 0 {
			<-ctx.Done()
			return nil
		}
		if !sleep(ctx, s.closed) {
			return nil
		}
		fmt.Println("reopened")
	}
}

func (s *sink) bind(ctx context.Context) (*net.UDPConn, error) {
	var lc net.ListenConfig
	p, err := lc.ListenPacket(ctx, "udp4", s.listen)
	if err != nil {
		return nil, err
	}
	c := p.(*net.UDPConn)
	if s.rcvbuf > 0 {
		if err := c.SetReadBuffer(s.rcvbuf); err != nil {
			return nil, err
		}
	}
	return c, force(c, unix.SO_RCVBUFFORCE, s.force)
}

// read returns nil when the port is to be closed or the time is over.
func (s *sink) read(ctx context.Context, c *net.UDPConn) error {
	buf := make([]byte, 65536)
	opened := time.Now()
	s.lastStall = opened
	for ctx.Err() == nil && !s.shut.Load() && (s.open == 0 || time.Since(opened) < s.open) {
		if err := c.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			return err
		}
		n, err := c.Read(buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
		case err != nil:
			return err
		default:
			s.took(buf[:n])
			spend := pause
			if s.busy {
				spend = burn
			}
			if s.slow.Load() {
				spend(s.slowWork)
			} else {
				spend(s.work)
			}
		}
		if s.stallEvery > 0 && time.Since(s.lastStall) >= s.stallEvery {
			if !sleep(ctx, s.stall) {
				return nil
			}
			s.lastStall = time.Now()
		}
		s.tell()
	}
	return nil
}

// took counts a datagram and, by its sequence number, those lost before it.
func (s *sink) took(b []byte) {
	s.received++
	s.log.Arrived(1)
	if len(b) < 8 {
		return
	}
	seq := binary.BigEndian.Uint64(b)
	if s.received > 1 && seq > s.next {
		s.lost += seq - s.next
	}
	if seq >= s.next {
		s.next = seq + 1
	}
}

func (s *sink) tell() {
	if time.Since(s.lastTold) >= time.Second {
		s.lastTold = time.Now()
		fmt.Printf("received %d lost %d\n", s.received, s.lost)
	}
}

// pause sleeps in one clock_nanosleep of this thread: the runtime's timers are
// too coarse for the time a program spends on one datagram.
func pause(d time.Duration) {
	if d > 0 {
		ts := unix.NsecToTimespec(int64(d))
		_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &ts, nil)
	}
}
