package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

var leakyServer = Actor{
	Name:  "leaky-server",
	About: "answers connections under a small RLIMIT_NOFILE and keeps some of their descriptors",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		listen := f.String("listen", "", "address:port")
		limit := f.Uint64("limit", 64, "RLIMIT_NOFILE, 32 to 1024")
		hard := f.Uint64("hard", 0, "the hard limit, up to which others may raise it; 0: as --limit")
		keep := f.Int("keep", -1, "descriptors never closed; -1 keeps every one")
		hold := f.Duration("hold", 0, "close a kept descriptor after this; 0 never")
		if err := parse(); err != nil {
			return err
		}
		if *limit < 32 || *limit > 1024 {
			return errors.New("--limit must be 32 to 1024")
		}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: *limit, Max: max(*limit, *hard)}); err != nil {
			return fmt.Errorf("set RLIMIT_NOFILE to %d: %w", *limit, err)
		}
		// What a careless ancestor left open above the limit would make the count of
		// descriptors exceed it.
		if err := unix.CloseRange(uint(*limit), math.MaxInt32, 0); err != nil {
			return fmt.Errorf("close inherited descriptors from %d: %w", *limit, err)
		}
		exitWith(ctx)
		fd, err := listenTCP(*listen, 4096)
		if err != nil {
			return err
		}
		seen := newTally()
		go seen.report(ctx, os.Stdout)
		ready()
		request, answer := make([]byte, 256), make([]byte, answerSize)
		var held kept
		for kept := 0; ; {
			held.letGo(*hold)
			conn, err := acceptTCP(fd)
			if errors.Is(err, unix.EMFILE) {
				seen.add("EMFILE")
				// What servers do: nginx waits 500 ms (accept_mutex_delay), Go's
				// net/http 5 ms to 1 s.
				time.Sleep(100 * time.Millisecond)
				continue
			}
			if err != nil {
				return fmt.Errorf("accept on %s: %w", *listen, err)
			}
			if n, err := readSome(conn, request); err == nil && n > 0 {
				_ = writeAll(conn, answer)
			}
			seen.add("answered")
			if *keep < 0 || kept < *keep {
				kept++
				held = append(held, keptFD{conn, time.Now()})
				continue
			}
			unix.Close(conn)
		}
	},
}

// kept are the descriptors that were not closed, in the order in which they came.
type kept []keptFD

type keptFD struct {
	fd    int
	since time.Time
}

// letGo closes those that were kept for longer than hold; none if it is 0.
func (k *kept) letGo(hold time.Duration) {
	for hold > 0 && len(*k) > 0 && time.Since((*k)[0].since) >= hold {
		unix.Close((*k)[0].fd)
		*k = (*k)[1:]
	}
}
