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
	About: "reads lines from its standard input, as a logger does, in one thread with blocking calls; reads none for a while after SIGUSR1",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		hang := f.Duration("hang", time.Minute, "time without reading")
		switched := f.Bool("switched", false, "SIGUSR1 ends the time without reading, too")
		if err := parse(); err != nil {
			return err
		}
		exitWith(ctx)
		runtime.LockOSThread()
		ready()
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
			for reading != nil && !reading.isOn() {
				ts := unix.NsecToTimespec(int64(50 * time.Millisecond))
				_ = unix.Nanosleep(&ts, nil)
			}
			line, err := in.ReadString('\n')
			if errors.Is(err, io.EOF) {
				return errors.New("nobody writes to it any more")
			}
			if err != nil {
				return err
			}
			if lines == 0 {
				fmt.Printf("first line: %.40s\n", line)
			}
		}
	},
}
