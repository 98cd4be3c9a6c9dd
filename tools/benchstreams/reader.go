package main

import (
	"fmt"
	"time"
)

// reader is one way to watch streams: commands that together read so many.
type reader struct {
	name     string
	streams  int
	commands [][]string
}

// side is who reads n streams side by side. A peer costs too much to read all of them.
func (p *plan) side(n int, urls, tool []string) []reader {
	few := urls[:min(n, p.peers)]
	all := []reader{{"snag watch", n, one(p.watch(p.snag, urls))}}
	if p.before != "" {
		all = append(all, reader{"snag watch of " + p.before, n, one(p.watch(p.before, urls))})
	}
	all = append(all,
		reader{"ffprobe -show_packets", len(few), each(few, "ffprobe", "-v", "error", "-show_packets", "-print_format", "compact")},
		reader{"ffprobe -show_frames", len(few), each(few, "ffprobe", "-v", "error", "-show_frames", "-print_format", "compact")},
		reader{"ffmpeg -c copy -f null -", len(few), copies(few)},
	)
	if tool != nil {
		all = append(all, reader{"video-quality-tools (npm)", len(few), one(append(append([]string{}, tool...), few...))})
	}
	return all
}

// watch is a snag that reads all of the URLs until it is ended.
func (p *plan) watch(snag string, urls []string) []string {
	return append([]string{
		snag, "watch", "--plain", "--for", (p.start + p.steady + time.Minute).String(),
		"--connects", fmt.Sprint(min(max(len(urls), 50), 1000)),
	}, urls...)
}

func one(args []string) [][]string { return [][]string{args} }

// each gives a command a URL.
func each(urls []string, args ...string) (all [][]string) {
	for _, u := range urls {
		all = append(all, append(append([]string{}, args...), u))
	}
	return all
}

func copies(urls []string) (all [][]string) {
	for _, u := range urls {
		all = append(all, []string{"ffmpeg", "-v", "error", "-nostdin", "-i", u, "-c", "copy", "-f", "null", "-"})
	}
	return all
}
