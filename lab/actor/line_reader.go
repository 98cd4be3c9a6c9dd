package actor

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

var lineReader = Actor{
	Name:  "line-reader",
	About: "reads lines from its standard input, as a logger does, in one thread with blocking calls, and prints the first; reads none for a while after SIGUSR1",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		hang := f.Duration("hang", time.Minute, "time without reading")
		switched := f.Bool("switched", false, "SIGUSR1 ends the time without reading, too")
		slow := f.Duration("slow", 0, "with --switched: reads a line in this time instead of none")
		path := f.String("to", "", "file to append the lines to")
		if err := parse(); err != nil {
			return err
		}
		exitWith(ctx)
		runtime.LockOSThread()
		var log *os.File
		if *path != "" {
			var err error
			if log, err = os.OpenFile(*path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
				return err
			}
		}
		hangs := told()
		var reading *toggle
		if *switched {
			hangs, reading = &atomic.Int64{}, toggled(true)
		}
		in := bufio.NewReader(os.Stdin)
		for lines := 0; ; lines++ {
			if at := hangs.Load(); at != 0 && time.Since(time.Unix(0, at)) < *hang {
				ts := unix.NsecToTimespec(int64(*hang - time.Since(time.Unix(0, at))))
				_ = unix.Nanosleep(&ts, nil)
			}
			if reading != nil && !reading.isOn() && *slow > 0 {
				pause(*slow)
			}
			for reading != nil && !reading.isOn() && *slow == 0 {
				pause(50 * time.Millisecond)
			}
			line, err := in.ReadString('\n')
			if errors.Is(err, io.EOF) {
				return errors.New("nobody writes to it any more")
			}
			if err != nil {
				return err
			}
			if log != nil {
				if _, err := log.WriteString(line); err != nil {
					return err
				}
			}
			if lines == 0 {
				fmt.Printf("first line: %.40s\n", line)
			}
		}
	},
}
