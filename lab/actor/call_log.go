package actor

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"snag/lab/clientlog"
)

var callLog = Actor{
	Name:  "call-log",
	About: "turns what a sipp scenario logs of its calls (begin NUMBER SECONDS MICROSECONDS; ok, failed or lost the same) into a client's log",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		from := f.String("from", "", "file that sipp logs to")
		path := f.String("log", "", "file for the client's log")
		if err := parse(); err != nil {
			return err
		}
		w, err := clientlog.Create(*path)
		if err != nil {
			return err
		}
		defer w.Close()
		var in *os.File
		for in == nil {
			if in, err = os.Open(*from); err != nil && (!errors.Is(err, os.ErrNotExist) || !sleep(ctx, 50*time.Millisecond)) {
				return err
			}
		}
		defer in.Close()
		calls, line, lines := calls{w, map[int]int64{}}, "", bufio.NewReader(in)
		for ctx.Err() == nil {
			part, err := lines.ReadString('\n')
			line += part
			switch {
			case errors.Is(err, io.EOF): // more of it comes
				sleep(ctx, 20*time.Millisecond)
			case err != nil:
				return err
			default:
				if err := calls.take(line); err != nil {
					return err
				}
				line = ""
			}
		}
		return nil
	},
}

type calls struct {
	log  *clientlog.Writer
	open map[int]int64 // by sipp's number of the call
}

func (c calls) take(line string) error {
	var what string
	var number int
	var s, us float64 // sipp's variables
	if _, err := fmt.Sscan(line, &what, &number, &s, &us); err != nil {
		return fmt.Errorf("read sipp's line %q: %w", line, err)
	}
	at := time.Unix(int64(s), int64(us)*1000)
	if what == "begin" {
		c.open[number] = c.log.Begin(at)
		return nil
	}
	c.log.EndAt(c.open[number], at, clientlog.Outcome(what))
	delete(c.open, number)
	return nil
}
