package actor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

var diskWriter = Actor{
	Name:  "disk-writer",
	About: "copies to a file as a backup does: writes and syncs, over and over",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		file := f.String("file", "", "file, written again from its start each time it is full")
		most := f.Int("most", 32, "MiB of the file")
		chunk := f.Int("chunk", 256, "KiB from one sync to the next")
		every := f.Duration("every", 0, "time from one chunk to the next; 0: as fast as it goes")
		switched := f.Bool("switched", false, "idle until SIGUSR1, which turns it on and off")
		if err := parse(); err != nil {
			return err
		}
		busy := toggled(!*switched)
		if *most < 1 || *chunk < 4 {
			return errors.New("--most at least 1, --chunk at least 4")
		}
		out, err := os.Create(*file)
		if err != nil {
			return err
		}
		defer out.Close()
		buf := make([]byte, *chunk<<10)
		ready()
		written, told := 0, time.Now()
		for at := int64(0); busy.await(ctx); at = (at + int64(len(buf))) % (int64(*most) << 20) {
			began := time.Now()
			if _, err := out.WriteAt(buf, at); err != nil {
				return err
			}
			if err := unix.Fdatasync(int(out.Fd())); err != nil {
				return fmt.Errorf("sync %s: %w", *file, err)
			}
			written += len(buf)
			if time.Since(told) >= time.Second {
				fmt.Printf("written %d\n", written)
				written, told = 0, time.Now()
			}
			sleep(ctx, *every-time.Since(began))
		}
		return nil
	},
}

// journalEntry is what a request leaves in a journal: a page.
var journalEntry = make([]byte, 4096)

func write(j *os.File) error {
	if _, err := j.Write(journalEntry); err != nil {
		return err
	}
	return unix.Fdatasync(int(j.Fd()))
}
