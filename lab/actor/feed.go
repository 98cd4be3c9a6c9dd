package actor

import (
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"time"
)

var feedServer = Actor{
	Name:  "feed-server",
	About: "sends each client a feed in small writes; a failed write is tried once more, as careless programs do",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		every := f.Duration("every", 10*time.Millisecond, "time between writes, at least 1ms")
		size := f.Int("size", 1000, "bytes of a write")
		writes := f.Int("writes", 0, "end the feed after as many; 0 goes on")
		if err := parse(); err != nil {
			return err
		}
		if *every < time.Millisecond || *size < 1 {
			return errors.New("--every must be 1ms or more, --size 1 or more")
		}
		seen := newTally()
		go seen.report(ctx, os.Stdout)
		return serve(ctx, *listen, func(c net.Conn) {
			seen.add("client")
			part := make([]byte, *size)
			for n := 0; *writes == 0 || n < *writes; n++ {
				if _, err := c.Write(part); err != nil {
					seen.add(errno(err))
					if _, err = c.Write(part); err != nil {
						seen.add(errno(err))
					}
					return
				}
				if !sleep(ctx, *every) {
					return
				}
			}
			seen.add("finished")
		})
	},
}

// Ways in which a feed-client ends its connection.
const (
	endAtEOF    = "eof"    // after the server's end: FIN both ways, nothing left behind
	endUnread   = "unread" // close while data waits: the kernel sends a reset (RFC 2525, 2.17)
	endLinger   = "linger" // SO_LINGER 0: a reset whatever waits
	endEarly    = "early"  // close with nothing unread: FIN, then a reset for what still comes
	endNoServer = "closed" // connect to a port that nobody listens on
)

var feedClient = Actor{
	Name:  "feed-client",
	About: "connects to a feed-server, reads for a while and ends the connection in one of some ways",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "address:port")
		end := f.String("end", endAtEOF, "eof, unread, linger, early or closed")
		clients := f.Int("clients", 8, "connections at a time, at most 128")
		stay := f.Duration("stay", 300*time.Millisecond, "time to read before the end, on the average")
		pause := f.Duration("pause", 50*time.Millisecond, "time before the next connection, on the average")
		if err := parse(); err != nil {
			return err
		}
		if *clients < 1 || *clients > 128 || *pause < time.Millisecond {
			return errors.New("--clients 1 to 128, --pause 1ms or more")
		}
		seen := newTally()
		for range *clients {
			go func() {
				for sleep(ctx, around(*pause)) {
					seen.add(visit(*to, *end, around(*stay)))
				}
			}()
		}
		ready()
		seen.report(ctx, os.Stdout)
		return nil
	},
}

// around spreads a time over half to one and a half of itself.
func around(d time.Duration) time.Duration {
	return d/2 + time.Duration(rand.Float64()*float64(d))
}

// visit makes one connection and returns what became of it.
func visit(to, end string, stay time.Duration) string {
	conn, err := net.DialTimeout("tcp4", to, 5*time.Second)
	if err != nil {
		return errno(err)
	}
	c := conn.(*net.TCPConn)
	defer c.Close()
	buf := make([]byte, 4096)
	until := time.Now().Add(stay)
	if end == endAtEOF {
		until = time.Now().Add(30 * time.Second)
	}
	_ = c.SetReadDeadline(until)
	for {
		if _, err = c.Read(buf); err != nil {
			break
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		return "eof"
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return errno(err)
	case end == endUnread:
		time.Sleep(50 * time.Millisecond) // some of the feed comes and is not read
	case end == endLinger:
		_ = c.SetLinger(0)
	}
	return end
}
