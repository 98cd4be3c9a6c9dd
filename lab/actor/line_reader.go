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
	"time"

	"golang.org/x/sys/unix"
)

var lineReader = Actor{
	Name:  "line-reader",
	About: "reads lines from its standard input, as a logger does, in one thread with blocking calls; reads none for a while after SIGUSR1",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		hang := f.Duration("hang", time.Minute, "time without reading")
		if err := parse(); err != nil {
			return err
		}
		exitWith(ctx)
		runtime.LockOSThread()
		ready()
		hangs := told()
		in := bufio.NewReader(os.Stdin)
		for lines := 0; ; lines++ {
			if at := hangs.Load(); at != 0 && time.Since(time.Unix(0, at)) < *hang {
				ts := unix.NsecToTimespec(int64(*hang - time.Since(time.Unix(0, at))))
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
