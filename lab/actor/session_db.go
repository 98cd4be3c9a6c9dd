package actor

import (
	"context"
	"flag"
	"io"
	"net"
	"sync"
	"time"
)

// The first byte of a request to a session-db.
const (
	sessionReads = iota
	sessionBegins
	sessionWrites
	sessionEnds
)

var sessionDB = Actor{
	Name:  "session-db",
	About: "a store whose sessions may hold its one lock from one request to another: reads are answered at once, writes when the lock is free",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		wait := f.Duration("wait", 0, "time that an answer takes, besides the lock's")
		size := f.Int("size", 128, "bytes of a request and of its answer")
		if err := parse(); err != nil {
			return err
		}
		var lock sync.Mutex
		return serve(ctx, *listen, func(c net.Conn) {
			has := false
			defer func() {
				if has {
					lock.Unlock()
				}
			}()
			buf := make([]byte, *size)
			for {
				if _, err := io.ReadFull(c, buf); err != nil {
					return
				}
				sleep(ctx, *wait)
				switch {
				case buf[0] == sessionBegins && !has:
					lock.Lock()
					has = true
				case buf[0] == sessionWrites && !has:
					lock.Lock()
					lock.Unlock() //nolint:staticcheck // as long as it takes
				case buf[0] == sessionEnds && has:
					lock.Unlock()
					has = false
				}
				if _, err := c.Write(buf); err != nil {
					return
				}
			}
		})
	},
}

var sessionClient = Actor{
	Name:  "session-client",
	About: "asks a session-db: some connections read, some write, and one or more hold its lock for a time again and again",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "address:port")
		readers := f.Int("readers", 0, "connections that read every 30 ms")
		writers := f.Int("writers", 0, "connections that write every 100 ms")
		holds := f.Duration("holds", 0, "hold the lock for this long")
		pause := f.Duration("pause", time.Second, "between two holds")
		holders := f.Int("holders", 1, "connections that hold the lock, one at a time")
		idle := f.Bool("switched", false, "holds nothing until SIGUSR1, which turns it on and off")
		size := f.Int("size", 128, "bytes of a request and of its answer")
		if err := parse(); err != nil {
			return err
		}
		on := toggled(!*idle)
		errs := make(chan error, *readers+*writers+*holders)
		every := func(wait time.Duration, kinds ...byte) {
			c, err := net.Dial("tcp4", *to)
			if err != nil {
				errs <- err
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, *size)
				for i := 0; sleep(ctx, wait); i++ {
					if buf[0] = kinds[i%len(kinds)]; buf[0] == sessionBegins && !on.await(ctx) {
						return
					}
					if _, err := c.Write(buf); err != nil {
						errs <- err
						return
					}
					if _, err := io.ReadFull(c, buf); err != nil {
						errs <- err
						return
					}
					switch buf[0] {
					case sessionBegins:
						on.sleep(ctx, *holds-wait)
					case sessionEnds:
						sleep(ctx, *pause-wait)
					}
				}
			}()
		}
		for range *readers {
			every(30*time.Millisecond, sessionReads)
		}
		for range *writers {
			every(100*time.Millisecond, sessionWrites)
		}
		for range *holders {
			if *holds > 0 {
				every(min(10*time.Millisecond, *holds, *pause), sessionBegins, sessionEnds)
			}
		}
		ready()
		select {
		case err := <-errs:
			return err
		case <-ctx.Done():
			return nil
		}
	},
}
