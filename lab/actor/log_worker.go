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
)

var logWorker = Actor{
	Name:  "log-worker",
	About: "asks a backend for each piece of work, in one thread with blocking calls, and writes a line to its log; has no more work after SIGUSR1",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "the backend, address:port")
		path := f.String("log", "", "file to append to")
		every := f.Duration("every", 200*time.Millisecond, "time between two pieces of work")
		if err := parse(); err != nil {
			return err
		}
		exitWith(ctx)
		runtime.LockOSThread()
		log, err := os.OpenFile(*path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		backend, err := net.DialTimeout("tcp4", *to, 10*time.Second)
		if err != nil {
			return err
		}
		file, err := backend.(*net.TCPConn).File() // blocking: a thread waits in the read, as in C
		if err != nil {
			return err
		}
		backend.Close() // the file is a descriptor of its own
		fd := int(file.Fd())
		ready()
		done := told()
		buf := make([]byte, 128)
		for n := 1; ; n++ {
			if done.Load() != 0 { // SIGUSR1: no more work
				for { // nothing comes any more
					_ = unix.Nanosleep(&unix.Timespec{Sec: 1}, nil)
				}
			}
			if err := ask128(fd, buf); err != nil {
				return fmt.Errorf("ask the backend: %w", err)
			}
			if _, err := fmt.Fprintf(log, "%s done piece %d\n", time.Now().Format(time.RFC3339), n); err != nil {
				return err
			}
			ts := unix.NsecToTimespec(int64(*every))
			_ = unix.Nanosleep(&ts, nil)
		}
	},
}

// ask128 sends a request and waits for the whole answer.
func ask128(fd int, buf []byte) error {
	if err := writeAll(fd, buf); err != nil {
		return err
	}
	for have := 0; have < len(buf); {
		n, err := unix.Read(fd, buf[have:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return errors.New("it closed the connection")
		}
		have += n
	}
	return nil
}
