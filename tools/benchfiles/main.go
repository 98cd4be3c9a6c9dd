// Command benchfiles measures what it costs to read files that other tools wrote:
// snag read beside grep, gzip, awk and the programs that are made for each kind, in
// one run on the same files. The files are made here: by tracing, profiling,
// capturing and logging real programs, and then multiplied with their times shifted.
// It prints Markdown. Machines are shared and noisy: read the ratios. It needs root.
//
//	go run ./tools/benchfiles -snag bin/snag
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	o := options{}
	flag.StringVar(&o.snag, "snag", "bin/snag", "the binary to measure")
	flag.Float64Var(&o.size, "size", 1, "size of the files, as a part of the issue's (1 GB of strace, 300 MB of perf script, 500 MB of packets and of an access log)")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each command runs; the run with least CPU time counts")
	flag.StringVar(&o.only, "only", "", "only these kinds: strace, strace-many, perf, pcap, gc, access, with commas")
	flag.StringVar(&o.dir, "dir", os.TempDir(), "where the files are made, in a folder that is removed at the end")
	flag.StringVar(&o.tools, "tools", filepath.Join(cacheDir(), "snag", "bench-files"), "where tools/setup.sh bench-files put what Debian has not")
	flag.BoolVar(&o.keep, "keep", false, "keep the files")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "benchfiles:", err)
		os.Exit(1)
	}
}

type options struct {
	snag, only, dir, tools string
	size                   float64
	rounds                 int
	keep                   bool
}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return os.TempDir()
	}
	return dir
}

// kinds in the order in which they are shown.
var kinds = []struct {
	name  string
	bytes float64
	make  func(m maker) ([]input, error)
}{
	{"strace", 1e9, traces},
	{"strace-many", 300e6, manyTraces},
	{"perf", 300e6, profiles},
	{"pcap", 500e6, captures},
	{"gc", 60e6, gcLogs},
	{"access", 500e6, accessLogs},
}

// maker is what the making of files is given.
type maker struct {
	ctx   context.Context
	dir   string
	bytes int64 // of the file, or of each
	tools string
}

// input is one file and what reads it.
type input struct {
	title string
	path  string
	peers []peer
	goals []goal
}

func run(ctx context.Context, o options) error {
	snag, err := filepath.Abs(o.snag)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "snag-bench-files-")
	if err != nil {
		return err
	}
	if o.keep {
		fmt.Fprintln(os.Stderr, "benchfiles: the files are in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	for _, k := range kinds {
		if o.only != "" && !strings.Contains(","+o.only+",", ","+k.name+",") {
			continue
		}
		if err := one(ctx, o, snag, filepath.Join(dir, k.name), int64(k.bytes*o.size), k.make); err != nil {
			if ctx.Err() != nil {
				return errors.New("stopped")
			}
			fmt.Fprintf(os.Stderr, "benchfiles: %s: %v\n", k.name, err)
		}
	}
	return nil
}

// one makes the files of a kind, measures, prints, and removes them.
func one(ctx context.Context, o options, snag, dir string, bytes int64, make func(maker) ([]input, error)) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if !o.keep {
		defer os.RemoveAll(dir)
	}
	inputs, err := make(maker{ctx: ctx, dir: dir, bytes: bytes, tools: o.tools})
	if err != nil {
		return err
	}
	for _, in := range inputs {
		if err := compare(ctx, in, snag, dir, o.rounds); err != nil {
			return err
		}
	}
	return nil
}
