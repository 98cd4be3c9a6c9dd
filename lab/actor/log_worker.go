package actor

import (
	"bytes"
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
	About: "asks a backend for each piece of work, in one thread with blocking calls, and writes a line to its log; has no more work after SIGUSR1, or keeps its lines back",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "the backend, address:port")
		path := f.String("log", "", "file to append to")
		every := f.Duration("every", 200*time.Millisecond, "time between two pieces of work")
		echo := f.Int("echo", 0, "bytes that it writes to its standard output for each piece, before the line in the log")
		keep := f.Bool("keep", false, "SIGUSR1: goes on to work, and keeps the lines of its log back for 4 s at a time")
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
		out := bytes.Repeat([]byte("x"), max(0, *echo))
		if len(out) > 0 {
			out[len(out)-1] = '\n'
		}
		kept, since := "", time.Now()
		for n := 1; ; n++ {
			if done.Load() != 0 && !*keep { // SIGUSR1: no more work
				for { // nothing comes any more
					_ = unix.Nanosleep(&unix.Timespec{Sec: 1}, nil)
				}
			}
			if err := ask128(fd, buf); err != nil {
				return fmt.Errorf("ask the backend: %w", err)
			}
			if err := writeAll(1, out); err != nil {
				return fmt.Errorf("write to the standard output: %w", err)
			}
			kept += fmt.Sprintf("%s done piece %d\n", time.Now().Format(time.RFC3339), n)
			if done.Load() == 0 || time.Since(since) >= 4*time.Second {
				if _, err := log.WriteString(kept); err != nil {
					return err
				}
				kept, since = "", time.Now()
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
