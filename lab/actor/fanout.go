package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab/clientlog"
)

var fanoutRelay = Actor{
	Name:  "fanout-relay",
	About: "one thread that passes a publisher's stream to all consumers, with blocking writes or by dropping",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		in := f.String("publisher", "", "address:port for the publisher")
		out := f.String("consumers", "", "address:port for the consumers")
		count := f.Int("count", 3, "consumers to wait for before the stream begins, at most 64")
		sndbuf := f.Int("sndbuf", 128<<10, "SO_SNDBUF of the consumers' sockets")
		drop := f.Bool("drop", false, "never block: drop what a consumer's socket has no room for")
		if err := parse(); err != nil {
			return err
		}
		if *count < 1 || *count > 64 {
			return errors.New("--count must be 1 to 64")
		}
		exitWith(ctx)
		runtime.LockOSThread()
		inside, err := listenTCP(*in, 1)
		if err != nil {
			return err
		}
		outside, err := listenTCP(*out, *count)
		if err != nil {
			return err
		}
		ready()
		var consumers []int
		for range *count {
			fd, err := acceptTCP(outside)
			if err == nil {
				err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, *sndbuf)
			}
			if err == nil && *drop {
				err = unix.SetNonblock(fd, true)
			}
			if err != nil {
				return fmt.Errorf("take a consumer on %s: %w", *out, err)
			}
			consumers = append(consumers, fd)
		}
		publisher, err := acceptTCP(inside)
		if err != nil {
			return fmt.Errorf("take the publisher on %s: %w", *in, err)
		}
		fmt.Println("relaying")
		return fanOut(publisher, consumers, *drop)
	},
}

func fanOut(publisher int, consumers []int, drop bool) error {
	buf := make([]byte, 4096)
	for {
		n, err := readSome(publisher, buf)
		if err != nil {
			return fmt.Errorf("the publisher's connection ended: %w", err)
		}
		if n == 0 {
			return errors.New("the publisher closed its connection")
		}
		for _, fd := range consumers {
			if drop {
				_, err = unix.Write(fd, buf[:n])
				if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
					err = nil // this consumer misses a part; the others do not wait for it
				}
			} else {
				err = writeAll(fd, buf[:n])
			}
			if err != nil {
				return fmt.Errorf("write to the consumer on descriptor %d: %w", fd, err)
			}
		}
	}
}

var consumer = Actor{
	Name:  "consumer",
	About: "reads a stream and counts its gaps; it can stop to read every now and then",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "address:port")
		rcvbuf := f.Int("rcvbuf", 0, "SO_RCVBUF; 0 leaves it to the kernel")
		read := f.Duration("read", 0, "read for this long, then stop for --stop, and again")
		stop := f.Duration("stop", 0, "0 never stops")
		lazy := f.Float64("lazy", 0, "bytes per second that it reads at most while SIGUSR1 has switched it on; 0: none")
		chunk := f.Int("chunk", 0, "bytes of the stamped chunks that come; 0: they have no stamps")
		path := f.String("log", "", "file for the client's log")
		if err := parse(); err != nil {
			return err
		}
		log, err := clientlog.Create(*path)
		if err != nil {
			return err
		}
		defer log.Close()
		on := switched(ctx, unix.SIGUSR1, false, "lazy")
		conn, err := net.DialTimeout("tcp4", *to, 10*time.Second)
		if err != nil {
			return err
		}
		defer conn.Close()
		if *rcvbuf > 0 {
			if err := conn.(*net.TCPConn).SetReadBuffer(*rcvbuf); err != nil {
				return fmt.Errorf("set SO_RCVBUF: %w", err)
			}
		}
		ready()
		seen := newTally()
		go seen.report(ctx, os.Stdout)
		buf := make([]byte, 16384)
		in := &stamps{from: conn, chunk: *chunk, log: log}
		last, stopAt := time.Time{}, time.Now().Add(*read)
		for ctx.Err() == nil {
			if *stop > 0 && time.Now().After(stopAt) {
				sleep(ctx, *stop)
				stopAt = time.Now().Add(*read)
			}
			if part := len(buf); on.Load() {
				if part = min(part, int(*lazy/20)); !sleep(ctx, 50*time.Millisecond) {
					return nil
				}
				if part == 0 {
					continue
				}
				buf = buf[:part]
			}
			if _, err := in.Read(buf); err != nil {
				return fmt.Errorf("read the stream: %w", err)
			}
			buf = buf[:cap(buf)]
			if gap := time.Since(last); !last.IsZero() && gap > time.Second {
				seen.took("freeze", gap)
			}
			last = time.Now()
			seen.add("read")
		}
		return nil
	},
}
