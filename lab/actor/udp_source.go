package actor

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var udpSource = Actor{
	Name:  "udp-source",
	About: "sends numbered datagrams at a rate, evenly or in bursts",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "address:port of the receiver")
		from := f.String("from", "", "own address:port; empty: the kernel's choice")
		rate := f.Float64("rate", 100, "datagrams a second, on average")
		burst := f.Int("burst", 1, "datagrams sent back to back")
		size := f.Int("size", 1200, "bytes of payload")
		first := f.Int("first", 0, "datagrams sent back to back once, before the steady rate")
		sndbuf := f.Int("sndbuf", 0, "send buffer, bytes, beyond wmem_max too; 0 leaves the default, which bounds what is on its way on this host")
		connect := f.Bool("connect", false, "connects the socket, so that ICMP errors reach it")
		if err := parse(); err != nil {
			return err
		}
		if *rate <= 0 || *burst < 1 || *size < 8 {
			return errors.New("--rate, --burst and --size must be above 0, --size at least 8")
		}
		send, err := dialUDP(*from, *to, *connect, *sndbuf)
		if err != nil {
			return err
		}
		ready()
		src := source{send: send, payload: make([]byte, *size)}
		if err := src.burst(*first); err != nil {
			return err
		}
		return src.steady(ctx, *burst, time.Duration(float64(*burst)/(*rate)*float64(time.Second)))
	},
}

type source struct {
	send    func([]byte) (int, error)
	payload []byte
	seq     uint64
	refused uint64
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
	for range n {
		binary.BigEndian.PutUint64(s.payload, s.seq)
		s.seq++
		_, err := s.send(s.payload)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			s.refused++
		case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOBUFS):
			// A filter or a queue of this host refused it: the source goes on, as RTP
			// senders do.
		case err != nil:
			return err
		}
	}
	return nil
}

// steady keeps to the clock: what a late wake-up missed is sent at once, but
// never more than two bursts, so that a busy machine does not make a flood.
func (s *source) steady(ctx context.Context, burst int, every time.Duration) error {
	next, told := time.Now(), time.Now()
	for ctx.Err() == nil {
		if err := s.burst(burst); err != nil {
			return err
		}
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
