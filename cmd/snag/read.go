package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/readers"
)

type readFlags struct {
	out      string
	zone     string
	symptoms []string
	quiet    bool
	show     showFlags
}

func readCommand() *cobra.Command {
	var f readFlags
	cmd := &cobra.Command{
		Use:   "read FILE…",
		Short: "Make a recording of files that others wrote, and judge it",
		Long: `Reads what other tools recorded, in any mix: a file's content tells what it is, plain
or packed by gzip or zstd. All files become one recording, which is judged as one of
snag find is. Memory stays bounded whatever the size of the files.

It reads what strace wrote: with any of -f, -o, -t, -tt, -ttt, -r, -T, -y, -yy, -Y, -i,
-n, -k, -x, -xx, -s. Best are traces with -f -ttt -T -yy.`,
		Example: `  snag read trace.txt.gz
  snag read --out DIR trace.txt && snag syscalls --read DIR`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return read(cmd, &f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "keep the recording in this folder (default: a new one under the temporary directory)")
	flags.StringVar(&f.zone, "tz", "", "the zone of times without one, as Europe/Berlin or UTC (default: this host's)")
	flags.StringArrayVar(&f.symptoms, "symptom", nil, "what was seen, in your words, with a time of day; may be given more than once")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, only the verdict")
	f.show.register(cmd)
	return cmd
}

func read(cmd *cobra.Command, f *readFlags, files []string) error {
	zone := time.Local
	if f.zone != "" {
		var err error
		if zone, err = time.LoadLocation(f.zone); err != nil {
			return usage("--tz: %v", err)
		}
	}
	dir := f.out
	if dir == "" {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("snag-%s-%d", time.Now().Format("20060102-150405"), os.Getpid()))
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := readers.Plan{Files: files, Dir: dir, Zone: zone, Symptoms: f.symptoms, Snag: version}
	if !f.quiet && isTerminal(os.Stderr) {
		p.Tick = readTick(time.Now())
		defer fmt.Fprint(os.Stderr, "\r\033[K")
	}
	if err := readers.Read(ctx, p); err != nil {
		return err
	}
	return judgeAndShow(cmd.Context(), dir, f.show)
}

// readTick draws how far the reading is: MB/s and the time that is left.
func readTick(began time.Time) func(done, all int64) {
	return func(done, all int64) {
		took := time.Since(began)
		if took < time.Second {
			return
		}
		line := fmt.Sprintf("%.1f GB read, %.0f MB/s", float64(done)/1e9, float64(done)/1e6/took.Seconds())
		if all > 0 && done > 0 {
			left := time.Duration(float64(took) * float64(all-done) / float64(done)).Round(time.Second)
			line = fmt.Sprintf("%3d %% of %.1f GB, %.0f MB/s, %v left", 100*done/all, float64(all)/1e9, float64(done)/1e6/took.Seconds(), left)
		}
		fmt.Fprintf(os.Stderr, "\r\033[K%s", line)
	}
}
