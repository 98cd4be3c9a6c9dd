package main

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/readers"
	"snag/readers/logs"
)

type readFlags struct {
	out      string
	find     string
	from, to string
	only     string
	zones    []string
	offsets  []string
	hosts    []string
	symptoms []string
	quiet    bool
	mapFile  string
	timeline string
	show     showFlags
	fetched  bool // for snag find --fleet: the files are what other hosts sent
	of       elsewhere
}

func readCommand() *cobra.Command {
	var f readFlags
	cmd := &cobra.Command{
		Use:   "read FILE…",
		Short: "Make a recording of files that others wrote, and judge it",
		Long: `Read what other tools recorded, in any mix. The content of a file shows its format, not
its name; it may be packed by gzip or zstd; - is standard input. All files become one
recording, judged like one of snag find. Memory stays bounded whatever their size.

It reads
` + formatsHelp() + `

A file that can't be read to its end is judged up to there, and the verdict says how far
that is; so it is after Ctrl-C. Exit codes: 0 nothing wrong,
10 a culprit found, 11 can't tell (read the verdict), 1 failed,
2 usage. docs/read.md has the rest.`,
		Example: `  snag read trace.txt.gz
  snag read 'trace.*'                            the files of strace -ff -o trace
  ssh host cat /var/tmp/trace.zst | snag read -
  snag read --out DIR trace.txt && snag syscalls --read DIR
  snag read --find createStream trace.txt`,
		Args: cli.UsageArgs(cobra.MinimumNArgs(1), "a file that another tool wrote, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error { return read(cmd, &f, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "out", "o", "", "keep the recording in this folder (default: a new one under the temporary directory)")
	flags.StringVar(&f.find, "find", "", "list which threads and descriptors had this text, and when, as far as strace -s shows it; escaped as \\x63 or \\143 as well")
	flags.StringVar(&f.only, "only", "", "of captures only the packets that this filter matches, as tcpdump has them: 'host 10.0.0.5 and port 443'")
	flags.StringVar(&f.from, "from", "", "judge nothing from before this time: a time of day, or a date and time")
	flags.StringVar(&f.to, "to", "", "judge nothing from after this time")
	flags.StringArrayVar(&f.zones, "tz", nil, "the zone of times without one, as Europe/Berlin, UTC or +02:00; FILE=ZONE for one file (default: what the files say, else this host's)")
	flags.StringArrayVar(&f.offsets, "offset", nil, "what to add to all times of a file, or of all files of a host, with a wrong clock, FILE=+3.2s; may be given more than once")
	flags.StringArrayVar(&f.hosts, "host", nil, "the host that a file is of, FILE=NAME, or a folder's files (default: what they say); may be given more than once")
	flags.StringArrayVar(&f.symptoms, "symptom", nil, "what was seen, in your words, with a time of day; may be given more than once")
	flags.StringVar(&f.mapFile, "map", "", "what lines of logs mean, as named patterns: a file, or one that is ready ("+strings.Join(logs.Maps(), ", ")+")")
	flags.StringVar(&f.timeline, "timeline", "", "what all files say of this stream, peer or process, in order, before the verdict")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, only the verdict")
	f.registerFetched(flags)
	f.show.register(cmd)
	return cmd
}

func read(cmd *cobra.Command, f *readFlags, args []string) error {
	if err := checkSymptoms(f.symptoms); err != nil {
		return err
	}
	p := readers.Plan{Find: f.find, From: f.from, To: f.to, Only: f.only, Map: f.mapFile, Symptoms: f.symptoms, Snag: cli.Version}
	if err := f.clocks(&p); err != nil {
		return err
	}
	files, err := filesToRead(args)
	if err != nil {
		return err
	}
	if err := folderOf("html", f.show.html); err != nil {
		return err
	}
	dir := f.out
	if dir == "" {
		if dir, err = private.New(time.Now()); err != nil {
			return err
		}
	}
	if f.fetched {
		if err := f.asFetched(len(files)); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		stop() // the next Ctrl-C ends snag at once
	}()
	stayWithin(cmd.Context(), readHeap, asGo)
	p.Files, p.Dir = files, dir
	shown := newReadProgress(os.Stderr, time.Now())
	defer shown.done()
	if !f.quiet {
		p.Tick = func(done, all int64) { shown.tick(time.Now(), done, all) }
	}
	if err := readers.Read(ctx, p); err != nil {
		if f.out == "" {
			_ = os.RemoveAll(dir) // of this run alone
		}
		return err
	}
	shown.judging()
	giveBack()
	f.show.ready = shown.done
	if f.timeline != "" {
		if err := showTimeline(cmd.OutOrStdout(), dir, f.timeline); err != nil {
			return err
		}
	}
	return judgeAndShow(cmd.Context(), dir, f.show)
}
