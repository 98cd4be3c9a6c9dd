package actor

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// answerSize is what a Caller waits for.
const answerSize = 512

var slowAcceptor = Actor{
	Name:  "slow-acceptor",
	About: "one thread with its own backlog that answers each connection before it accepts the next",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		at := f.String("listen", "", "address:port, or the path of a UNIX socket")
		backlog := f.Int("backlog", 5, "length of the accept queue")
		work := f.Duration("work", 0, "time spent on each connection")
		if err := parse(); err != nil {
			return err
		}
		if *backlog < 1 || *work < 0 {
			return errors.New("--backlog must be 1 or more, --work not negative")
		}
		exitWith(ctx)
		runtime.LockOSThread()
		fd, err := listenTCP(*at, *backlog)
		if err != nil {
			return err
		}
		ready()
		answer := make([]byte, answerSize)
		request := make([]byte, 256)
		for {
			conn, err := acceptTCP(fd)
			if err != nil {
				return fmt.Errorf("accept on %s: %w", *at, err)
			}
			time.Sleep(*work)
			// A caller that gave up while it waited is no reason to end.
			if n, err := readSome(conn, request); err == nil && n > 0 {
				if bytes.HasPrefix(request[:n], []byte(missing)) {
					_ = writeAll(conn, []byte("no such playlist\n"))
				} else {
					_ = writeAll(conn, answer)
				}
			}
			unix.Close(conn)
		}
	},
}
