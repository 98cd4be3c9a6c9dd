package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/shown"
	"snag/recorder"
	"snag/recording"
)

// pastFlags select a time in the ring of snag record.
type pastFlags struct {
	at, from, to string
	last         time.Duration
	ring         string
	without      []string // streams, by their names
}

func (f *pastFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.at, "at", "", "judge this time in snag record's ring (14:17:28, 2026-11-21T14:17:28Z), from 20 s before to 10 s after")
	flags.StringVar(&f.from, "from", "", "judge snag record's ring from this time on")
	flags.StringVar(&f.to, "to", "", "with --from: until this time (default: now)")
	flags.DurationVar(&f.last, "last", 0, "judge the most recent part of snag record's ring, as 10m")
	flags.StringArrayVar(&f.without, "without-stream", nil, "judge the ring as if this stream were not watched")
	_ = flags.MarkHidden("without-stream") // for snag record itself
	flags.StringVar(&f.ring, "ring", recorder.Default, "the folder of snag record's ring; its earlier times of the host are compared with")
}

// asked reports whether such a time is selected.
func (f *pastFlags) asked() bool { return f.at != "" || f.from != "" || f.to != "" || f.last != 0 }

// --at judges more before the given time than after it: causes come first.
const (
	beforeAt = 20 * time.Second
	afterAt  = 10 * time.Second
	mostPast = 2 * time.Hour
)

// check rejects flags that do not fit.
func (f *pastFlags) check(cmd *cobra.Command) error {
	if !f.asked() {
		return nil
	}
	for _, name := range []string{"for", "stream", "layers", "discover", "budget", "go-runtime", "own-netns", "load", "eliminate"} {
		if cmd.Flags().Changed(name) {
			return cli.Usage("--%s: not with --at, --from or --last, which measure nothing new", name)
		}
	}
	switch {
	case f.at != "" && (f.from != "" || f.to != "" || f.last != 0), f.from != "" && f.last != 0:
		return cli.Usage("one of --at, --from and --last: each says which time is judged")
	case f.to != "" && f.from == "":
		return cli.Usage("--to %s: with --from", f.to)
	case f.last < 0:
		return cli.Usage("--last %s: how long, as 10m", f.last)
	}
	return nil
}

// window returns the selected range.
func (f *pastFlags) window(now time.Time) (from, to recording.Time, err error) {
	at := recording.Time(now.UnixNano())
	_, offset := now.Zone()
	parse := func(name, text string) (recording.Time, error) {
		t, err := recording.ParseSince(text, at, offset)
		if err != nil {
			return 0, cli.Usage("--%s: %v", name, err)
		}
		return t, nil
	}
	to = at
	switch {
	case f.last != 0:
		from = at.Add(-f.last)
	case f.at != "":
		if from, err = parse("at", f.at); err != nil {
			return 0, 0, err
		}
		from, to = from.Add(-beforeAt), min(at, from.Add(afterAt))
	default:
		if from, err = parse("from", f.from); err != nil {
			return 0, 0, err
		}
		if f.to != "" {
			if to, err = parse("to", f.to); err != nil {
				return 0, 0, err
			}
		}
	}
	switch {
	case to <= from:
		return 0, 0, cli.Usage("--to %s: it is not after --from %s", f.to, f.from)
	case to.Sub(from) > mostPast:
		return 0, 0, cli.Usage("from %s to %s: %s at the most: name the time at which it hurt", from.Wall().Format(time.DateTime), to.Wall().Format(time.DateTime), mostPast)
	}
	return from, to, nil
}

// findPast judges the selected range.
func findPast(cmd *cobra.Command, f *findFlags) error {
	from, to, err := f.past.window(time.Now())
	if err != nil {
		return err
	}
	since, err := f.began(time.Now())
	if err != nil {
		return cli.Usage("--since: %v", err)
	}
	r, kept, err := readPast(f.past.ring, from, to)
	if err != nil {
		return err
	}
	recorder.Without(r, f.past.without)
	objective := f.target.Objective
	if r.Manifest.Target, err = recorder.Resolve(r, f.target); err != nil {
		return err
	}
	r.Manifest.Target.Objective, r.Manifest.Symptoms, r.Manifest.Since = objective, f.symptoms, since
	dir := f.out
	if dir == "" {
		if dir, err = private.New(time.Now()); err != nil {
			return err
		}
		dir = filepath.Join(dir, "past.snag")
	}
	if err := r.PackTo(dir); err != nil {
		return err
	}
	if err := earlierBeside(dir, f.past.ring, kept, r.Manifest.Start); err != nil {
		fmt.Fprintf(shown.To(os.Stderr), "snag: no earlier times to compare with: %v\n", err)
	}
	for _, d := range r.Damage {
		fmt.Fprintf(shown.To(os.Stderr), "snag: %s\n", d)
	}
	f.show.own = true
	return judgeAndShow(cmd.Context(), dir, f.show)
}

// readPast reads a time from the ring, or from an incident's recording, which it says.
func readPast(ring string, from, to recording.Time) (*recording.Recording, recorder.Kept, error) {
	r, kept, err := recorder.Ring{Dir: ring}.ReadKept(from, to)
	if kept.ID > 0 {
		fmt.Fprintf(shown.To(os.Stderr), "snag: %s\n", kept)
	}
	return r, kept, err
}

// earlierBeside keeps earlier times of the host beside a recording that begins at from: those of the ring, or those
// that the incident has.
func earlierBeside(dir, ring string, kept recorder.Kept, from recording.Time) error {
	if kept.ID == 0 {
		return keepEarlier(ring, dir, from)
	}
	files, err := recording.EarlierFiles(kept.File)
	var all []*recording.Recording
	for _, file := range files {
		one, openErr := recording.OpenOwn(file)
		if err = errors.Join(err, openErr); openErr == nil {
			all = append(all, one)
		}
	}
	return errors.Join(err, recording.KeepEarlier(dir, private.FolderMode(), all))
}

// keepEarlier keeps what the ring has of earlier times beside a recording that begins at from: judge
// and incidents show must give the same verdict when the ring has them no more.
func keepEarlier(ring, dir string, from recording.Time) error {
	all, err := recorder.Ring{Dir: ring}.Earlier(from)
	var none *recorder.NoneError
	if errors.As(err, &none) || errors.Is(err, fs.ErrPermission) {
		return nil // no recorder ran here, or it is not this user's
	}
	if err != nil {
		return err
	}
	return recording.KeepEarlier(dir, private.FolderMode(), all)
}
