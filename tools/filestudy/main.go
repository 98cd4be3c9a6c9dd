// Command filestudy runs snag read over a tree of captures, logs and profiles that strangers
// made, and compares what it says with what other programs say of the same files: tshark of
// captures, GCViewer of logs of collections, inferno and go tool pprof of profiles. It prints
// Markdown: a confusion table by class, and every disagreement.
//
//	go run ./tools/filestudy -snag bin/snag DIR
//
// What is not installed is left out, and said. Nothing is written into DIR.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

type options struct {
	snag, tools, list string
	peers             map[string]map[string]bool // by path, of an earlier run
	jobs              int
	most              int64
	limit             time.Duration
}

func main() {
	o := options{}
	flag.StringVar(&o.snag, "snag", "bin/snag", "the binary to study")
	flag.StringVar(&o.tools, "tools", filepath.Join(cacheDir(), "snag", "bench-files"), "where tools/setup.sh bench-files put what Debian has not")
	flag.StringVar(&o.list, "list", "", "write what was found of each file here, as JSON lines")
	peers := flag.String("peers", "", "take what tshark says from such a list of an earlier run: to study another binary on the same files")
	flag.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "files at a time")
	flag.Int64Var(&o.most, "most", 256<<20, "bytes of a file; larger ones are left out")
	flag.DurationVar(&o.limit, "limit", 2*time.Minute, "how long one program may take for one file")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "filestudy: name a folder: go run ./tools/filestudy DIR")
		os.Exit(2)
	}
	var err error
	if o.peers, err = readPeers(*peers); err != nil {
		fmt.Fprintln(os.Stderr, "filestudy:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "filestudy:", err)
		os.Exit(1)
	}
}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return os.TempDir()
	}
	return dir
}

func run(ctx context.Context, o options, dirs []string) error {
	files, large, err := walk(dirs, o.most)
	if err != nil {
		return err
	}
	results := make([]result, len(files))
	var wg sync.WaitGroup
	next := make(chan int)
	for range o.jobs {
		wg.Go(func() {
			for i := range next {
				results[i] = study(ctx, o, files[i])
			}
		})
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		next <- i
		if i%50 == 49 {
			fmt.Fprintf(os.Stderr, "%d of %d files\n", i+1, len(files))
		}
	}
	close(next)
	wg.Wait()
	results = slices.DeleteFunc(results, func(r result) bool { return r.Path == "" })
	if o.list != "" {
		if err := writeList(o.list, results); err != nil {
			return err
		}
	}
	print(os.Stdout, results, large)
	return ctx.Err()
}

// walk lists the files of some trees, and how many are larger than most. A folder's name that
// begins with a dot is a version control's.
func walk(dirs []string, most int64) (files []string, large int, err error) {
	for _, dir := range dirs {
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && len(d.Name()) > 1 && d.Name()[0] == '.':
				return filepath.SkipDir
			case !d.Type().IsRegular():
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if info.Size() > most {
				large++
			} else if info.Size() > 0 {
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return files, large, nil
}
