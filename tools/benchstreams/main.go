// Command benchstreams measures what it costs to watch live streams: snag watch and its
// peers side by side on the same streams of one real nginx-rtmp, published by one ffmpeg
// with the tee muxer, at several numbers of streams; then snag's passive form beside as
// many readers. What starting takes is told apart from what goes on. It prints Markdown.
// Machines are shared and noisy: read the ratios of CPU time. It needs root, for a
// network namespace of its own.
//
//	go run ./tools/benchstreams -snag bin/snag -streams 1,100
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// plan is what is measured.
type plan struct {
	snag, before  string
	streams       []int
	peers, kbps   int
	start, steady time.Duration
}

func main() {
	var p plan
	flag.StringVar(&p.snag, "snag", "bin/snag", "the binary to measure")
	flag.StringVar(&p.before, "before", "", "another snag, to run beside it")
	streams := flag.String("streams", "1,10,100,300", "how many streams are read, one table each")
	flag.IntVar(&p.peers, "peers", 3, "how many streams each peer reads at the most")
	flag.IntVar(&p.kbps, "kbps", 200, "of a stream: under 1000 it is 320×180 with 25 pictures per second, else 1280×720 with 30")
	flag.DurationVar(&p.start, "start", 12*time.Second, "what is used until then is told as start-up")
	flag.DurationVar(&p.steady, "for", 30*time.Second, "how long is measured after that")
	flag.Parse()
	var err error
	if p.streams, err = numbers(*streams); err == nil {
		err = p.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchstreams:", err)
		os.Exit(1)
	}
}

// mostStreams is as many as one snag watches at the most by default.
const mostStreams = 2000

// numbers reads "1,10 100".
func numbers(text string) (all []int, err error) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > mostStreams {
			return nil, fmt.Errorf("-streams %q: %q is not a number from 1 to %d", text, word, mostStreams)
		}
		all = append(all, n)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("-streams %q: no number from 1 to %d", text, mostStreams)
	}
	return all, nil
}

func (p *plan) run() error {
	var err error
	if p.snag, err = filepath.Abs(p.snag); err != nil {
		return err
	}
	if p.kbps < 100 || p.kbps > 20000 || p.peers < 1 || p.start < time.Second || p.steady < time.Second {
		return fmt.Errorf("-kbps from 100 to 20000, -peers from 1, -start and -for from 1s")
	}
	o, err := publish(p.kbps, min(mostPublished, maximum(p.streams)))
	if err != nil {
		return err
	}
	defer o.close()
	tool, why := qualityTools(o.dir)
	for _, n := range p.streams {
		rows, err := o.measure(p.side(n, o.urls(n), tool), p.start, p.steady)
		if err != nil {
			return err
		}
		row, err := o.besideReaders(p, n)
		if err != nil {
			return err
		}
		printRows(n, p, append(rows, row))
	}
	printUnmeasured(p, why)
	return nil
}

func maximum(all []int) (most int) {
	for _, n := range all {
		most = max(most, n)
	}
	return most
}
