package actor

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab/clientlog"
)

var tcpSource = Actor{
	Name:  "tcp-source",
	About: "connects and sends a stream at a rate",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "address:port")
		rate := f.Float64("rate", 1e6, "bytes per second; 0: as fast as it goes")
		chunk := f.Int("chunk", 16384, "bytes of a write")
		cong := f.String("congestion", "cubic", "TCP_CONGESTION")
		hello := f.Int("hello", 0, "small writes before the stream, 100 ms apart")
		flows := f.Int("flows", 1, "connections that share the rate")
		stamp := f.Bool("stamp", false, "each chunk begins with the time when it was due; what was late is sent at once")
		idle := f.Bool("idle", false, "sends only while SIGUSR1 has switched it on")
		if err := parse(); err != nil {
			return err
		}
		if *flows < 1 || *chunk < stampSize {
			return fmt.Errorf("--flows must be above 0, --chunk at least %d", stampSize)
		}
		p := pouring{rate: *rate / float64(*flows), chunk: *chunk, stamp: *stamp}
		if *idle {
			p.on = switched(ctx, syscall.SIGUSR1, false, "sending")
		}
		errs := make(chan error, *flows)
		for i := range *flows {
			d := net.Dialer{Control: congestion(*cong)}
			c, err := d.DialContext(ctx, "tcp4", *to)
			if err != nil {
				return err
			}
			defer c.Close()
			if i == 0 {
				ready()
			}
			for range *hello {
				if _, err := c.Write(make([]byte, helloSize)); err != nil || !sleep(ctx, 100*time.Millisecond) {
					return err
				}
			}
			go func() { errs <- p.pour(ctx, c) }()
		}
		return <-errs
	},
}

// helloSize is what a login or a request header has.
const helloSize = 200

// congestion sets TCP_CONGESTION on a socket before it connects or listens.
func congestion(name string) func(string, string, syscall.RawConn) error {
	return func(_, _ string, raw syscall.RawConn) error {
		if name == "" {
			return nil
		}
		var err error
		if ctl := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
		}); ctl != nil {
			return ctl
		}
		if err != nil {
			return fmt.Errorf("set TCP_CONGESTION %s: %w", name, err)
		}
		return nil
	}
}

// pouring is how a stream is sent.
type pouring struct {
	rate  float64 // bytes per second; 0: as fast as it goes
	chunk int
	stamp bool
	on    *atomic.Bool // nil: always
}

// pour writes at the rate until the context ends; a blocked write delays what
// follows and is not made up for, unless chunks are stamped: then they are a source's
// that does not wait.
func (p pouring) pour(ctx context.Context, c net.Conn) error {
	buf := make([]byte, p.chunk)
	var every time.Duration
	if p.rate > 0 {
		every = time.Duration(float64(p.chunk) / p.rate * float64(time.Second))
	}
	stop := context.AfterFunc(ctx, func() { c.SetWriteDeadline(time.Now()) })
	defer stop()
	next, told, sent := time.Now(), time.Now(), 0
	for ctx.Err() == nil {
		if p.on != nil && !p.on.Load() {
			if !sleep(ctx, 20*time.Millisecond) {
				return nil
			}
			next = time.Now()
			continue
		}
		if p.stamp {
			binary.BigEndian.PutUint64(buf, uint64(next.UnixNano()))
		}
		n, err := c.Write(buf)
		sent += n
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		next = next.Add(every)
		if time.Since(next) > 4*every && !p.stamp {
			next = time.Now()
		}
		if !sleep(ctx, time.Until(next)) {
			return nil
		}
		if time.Since(told) >= time.Second {
			told = time.Now()
			fmt.Printf("sent %d bytes\n", sent)
		}
	}
	return nil
}

var tcpSink = Actor{
	Name:  "tcp-sink",
	About: "accepts connections and reads them to the end",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		rcvbuf := f.Int("rcvbuf", 0, "SO_RCVBUF; 0 leaves it to the kernel")
		rate := f.Float64("rate", 0, "bytes per second that it reads at most; 0: as they come")
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
		return serveWith(ctx, *listen, receiveBuffer(*rcvbuf), func(c net.Conn) {
			in := &stamps{from: c, chunk: *chunk, log: log}
			drain(slowly(ctx, in, *rate))
		})
	},
}

// receiveBuffer sets SO_RCVBUF before the socket listens: the window's scale is
// settled in the handshake (tcp(7)).
func receiveBuffer(bytes int) func(string, string, syscall.RawConn) error {
	return func(_, _ string, raw syscall.RawConn) error {
		if bytes <= 0 {
			return nil
		}
		var err error
		if ctl := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, bytes)
		}); ctl != nil {
			return ctl
		}
		return err
	}
}

// slowReader reads no more than a rate, 20 times per second.
type slowReader struct {
	ctx  context.Context
	from io.Reader
	rate float64
}

func slowly(ctx context.Context, from io.Reader, rate float64) io.Reader {
	if rate <= 0 {
		return from
	}
	return slowReader{ctx, from, rate}
}

func (r slowReader) Read(b []byte) (int, error) {
	if !sleep(r.ctx, 50*time.Millisecond) {
		return 0, io.EOF
	}
	return io.ReadFull(r.from, b[:min(len(b), int(r.rate/20))])
}

// drain reads to the end and prints what came once a second.
func drain(r io.Reader) {
	buf := make([]byte, 65536)
	told, got := time.Now(), 0
	for {
		n, err := r.Read(buf)
		got += n
		if time.Since(told) >= time.Second {
			told = time.Now()
			fmt.Printf("received %d bytes\n", got)
		}
		if err != nil {
			return
		}
	}
}

// serve accepts until the context ends, one goroutine a connection.
func serve(ctx context.Context, listen string, handle func(net.Conn)) error {
	return serveWith(ctx, listen, nil, handle)
}

// serveWith sets something on the socket before it listens.
func serveWith(ctx context.Context, listen string, set func(string, string, syscall.RawConn) error, handle func(net.Conn)) error {
	lc := net.ListenConfig{Control: set}
	l, err := lc.Listen(ctx, networkOf(listen), listen)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { l.Close() })()
	ready()
	for {
		c, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, syscall.EMFILE) {
			time.Sleep(100 * time.Millisecond) // as servers do: see leaky-server
			continue
		}
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			handle(c)
		}()
	}
}

var tcpRelay = Actor{
	Name:  "tcp-relay",
	About: "accepts connections and passes each on to another address",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		to := f.String("to", "", "address:port")
		if err := parse(); err != nil {
			return err
		}
		return serve(ctx, *listen, func(in net.Conn) {
			out, err := net.Dial("tcp4", *to)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return
			}
			defer out.Close()
			// Through a buffer of its own, not splice: a relay that touches its data.
			_, _ = io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, make([]byte, 32768))
		})
	},
}
