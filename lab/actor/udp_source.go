package actor

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab/clientlog"
)

var udpSource = Actor{
	Name:  "udp-source",
	About: "sends numbered datagrams at a rate, evenly or in bursts",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "address:port of the receiver")
		from := f.String("from", "", "own address:port; empty: the kernel's choice")
		rate := f.Float64("rate", 100, "datagrams per second, on average")
		burst := f.Int("burst", 1, "datagrams sent back to back")
		size := f.Int("size", 1200, "bytes of payload")
		first := f.Int("first", 0, "datagrams sent back to back once, before the steady rate")
		sndbuf := f.Int("sndbuf", 0, "send buffer, bytes, beyond wmem_max too; 0 leaves the default, which bounds what is on its way on this host")
		connect := f.Bool("connect", false, "connects the socket, so that ICMP errors reach it")
		flows := f.Int("flows", 1, "sockets that share the rate")
		bursty := f.Int("bursty", 0, "datagrams sent back to back instead, at the same rate, while SIGUSR1 has switched it on")
		faster := f.Float64("faster", 1, "sends so many times as many while SIGUSR1 has switched it on")
		path := f.String("log", "", "file for the client's log")
		if err := parse(); err != nil {
			return err
		}
		if *rate <= 0 || *burst < 1 || *size < 8 || *flows < 1 || *faster <= 0 {
			return errors.New("--rate, --burst, --size, --flows and --faster must be above 0, --size at least 8")
		}
		log, err := clientlog.Create(*path)
		if err != nil {
			return err
		}
		defer log.Close()
		every := time.Duration(float64(*flows) / *rate * float64(time.Second))
		on := switched(ctx, unix.SIGUSR1, false, "turned")
		errs := make(chan error, *flows)
		for i := range *flows {
			send, err := dialUDP(*from, *to, *connect, *sndbuf)
			if err != nil {
				return err
			}
			src := source{send: send, payload: make([]byte, *size), every: every, few: *burst, many: max(*bursty, *burst), faster: *faster, turned: on, log: log}
			if err := src.burst(*first); err != nil {
				return err
			}
			// Spread over the interval, so that they do not come as one burst.
			wait := time.Duration(i) * every * time.Duration(*burst) / time.Duration(*flows)
			go func() {
				if !sleep(ctx, wait) {
					errs <- nil
					return
				}
				errs <- src.steady(ctx)
			}()
		}
		ready()
		return <-errs
	},
}

type source struct {
	send    func([]byte) (int, error)
	payload []byte
	seq     uint64
	refused uint64
	every   time.Duration // a datagram on average
	// few are sent back to back; many, and so many times faster, while it is turned on.
	few, many int
	faster    float64
	turned    *atomic.Bool
	log       *clientlog.Writer
}

// dialUDP opens a socket that sends to one address, connected or not.
func dialUDP(from, to string, connect bool, sndbuf int) (func([]byte) (int, error), error) {
	dst, err := net.ResolveUDPAddr("udp4", to)
	if err != nil {
		return nil, err
	}
	var src *net.UDPAddr
	if from != "" {
		if src, err = net.ResolveUDPAddr("udp4", from); err != nil {
			return nil, err
		}
	}
	if connect {
		c, err := net.DialUDP("udp4", src, dst)
		if err != nil {
			return nil, err
		}
		return c.Write, force(c, unix.SO_SNDBUFFORCE, sndbuf)
	}
	c, err := net.ListenUDP("udp4", src)
	if err != nil {
		return nil, err
	}
	return func(b []byte) (int, error) { return c.WriteToUDP(b, dst) }, force(c, unix.SO_SNDBUFFORCE, sndbuf)
}

// force sets a buffer beyond the host's limit, as root may; 0 leaves it.
func force(c *net.UDPConn, option, size int) error {
	if size == 0 {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) { set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, size) })
	return errors.Join(err, set)
}

func (s *source) burst(n int) error {
	s.log.Sent(n)
	for range n {
		binary.BigEndian.PutUint64(s.payload, s.seq)
		s.seq++
		_, err := s.send(s.payload)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			s.refused++
		case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOBUFS), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
			// A filter, a queue or the routes of this host refused it: the source goes on,
			// as RTP senders do.
		case err != nil:
			return err
		}
	}
	return nil
}

// steady keeps to the clock: what a late wake-up missed is sent at once, but
// never more than two bursts, so that a busy machine does not make a flood.
func (s *source) steady(ctx context.Context) error {
	next, told := time.Now(), time.Now()
	for ctx.Err() == nil {
		n, pace := s.few, 1.0
		if s.turned.Load() {
			n, pace = s.many, s.faster
		}
		if err := s.burst(n); err != nil {
			return err
		}
		every := time.Duration(float64(n) / pace * float64(s.every))
		next = next.Add(every)
		if late := time.Since(next); late > 2*every {
			next = time.Now()
		}
		if !sleep(ctx, time.Until(next)) {
			return nil
		}
		if time.Since(told) >= time.Second {
			told = time.Now()
			fmt.Printf("sent %d refused %d\n", s.seq, s.refused)
		}
	}
	return nil
}
