// Command benchstreams measures what it costs to watch live streams: snag watch,
// its passive form, and the peers, in one run on the same streams of one real
// nginx-rtmp, published by one ffmpeg with the tee muxer. It prints Markdown.
// Machines are shared and noisy: read the ratios. It needs root, for a network
// namespace of its own.
//
//	go run ./tools/benchstreams -snag bin/snag
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	snag := flag.String("snag", "bin/snag", "the binary to measure")
	streams := flag.Int("streams", 100, "how many streams are published")
	window := flag.Duration("for", 20*time.Second, "how long each reader reads")
	peers := flag.Int("peers", 3, "how many streams each peer reads at a time: they cost too much for all")
	flag.Parse()
	if err := run(*snag, *streams, *peers, *window); err != nil {
		fmt.Fprintln(os.Stderr, "benchstreams:", err)
		os.Exit(1)
	}
}

func run(snag string, streams, peers int, window time.Duration) error {
	snag, err := filepath.Abs(snag)
	if err != nil {
		return err
	}
	o, err := publish(streams)
	if err != nil {
		return err
	}
	defer o.close()
	fmt.Printf("%d streams of 720p30 at 2.5 Mb/s with AAC from nginx-rtmp, each reader for %s.\n\n", streams, window)
	all := []reader{
		{"snag watch", streams, one(append([]string{snag, "watch", "--plain", "--for", (window + time.Minute).String()}, o.urls...))},
		{"snag watch, first half of them", streams / 2, one(append([]string{snag, "watch", "--plain", "--for", (window + time.Minute).String()}, o.urls[:streams/2]...))},
		{"ffprobe -show_packets", peers, each(o.urls[:peers], "ffprobe", "-v", "error", "-show_packets", "-print_format", "compact")},
		{"ffprobe -show_frames", peers, each(o.urls[:peers], "ffprobe", "-v", "error", "-show_frames", "-print_format", "compact")},
		{"ffmpeg -c copy -f null -", peers, copies(o.urls[:peers])},
	}
	if tool := qualityTools(o.dir); tool != nil {
		all = append(all, reader{"video-quality-tools (npm)", peers, one(append(tool, o.urls[:peers]...))})
	}
	if passive(snag) {
		all = append(all, reader{"snag watch --passive, beside 100 readers", 2 * streams, nil})
	}
	var rows []row
	for _, r := range all {
		var got row
		if r.commands == nil {
			got, err = o.besideReaders(r, snag, window)
		} else {
			got, err = o.measure(r, window)
		}
		if err != nil {
			return err
		}
		rows = append(rows, got)
	}
	printRows(rows)
	return nil
}
