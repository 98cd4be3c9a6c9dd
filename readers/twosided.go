package readers

import (
	"context"
	"strings"

	"snag/readers/reader"
	"snag/readers/sides"
	"snag/recording"
)

// mostCompared captures are held against each other, each with each.
const mostCompared = 8

// compare looks at captures of both ends of the same connections, as a source of its
// own.
func (in *intake) compare(ctx context.Context, files []file) {
	var names []string
	for _, f := range files {
		if f.format.Name == "pcap" && f.in.Size > 0 {
			names = append(names, f.in.Path)
		}
	}
	if len(names) < 2 {
		return
	}
	k := in.sink(in.add(&source{name: strings.Join(names[:min(len(names), mostCompared)], " + "), format: "sides"}))
	told := twoSided(ctx, files, k)
	k.of.span = recording.Interval{}
	for _, s := range in.sources {
		if s.format == "pcap" && s.span.Start != 0 {
			k.of.see(s.span.Start, s.span.End)
		}
	}
	told.First, told.Last = k.of.span.Start, k.of.span.End
	k.ended(told, nil)
}

// twoSided looks at captures once more, two at a time: connections that are on both
// tell where the time of their requests passed. A pipe can't be read twice.
func twoSided(ctx context.Context, files []file, out recording.Sink) (all reader.Told) {
	var paths []string
	for _, f := range files {
		if f.format.Name == "pcap" && f.in.Size > 0 {
			paths = append(paths, f.in.Path)
		}
	}
	paths = paths[:min(len(paths), mostCompared)]
	best := -1
	for i, a := range paths {
		for _, b := range paths[i+1:] {
			if ctx.Err() != nil {
				return all
			}
			told := sides.Read(ctx, [2]string{a, b}, out)
			all.Facts = append(all.Facts, told.Facts...)
			// Of captures that have nothing in common one row is enough, and none where
			// others have.
			if n := len(told.Facts); n > best {
				best, all.Coverage = n, told.Coverage
			}
		}
	}
	return all
}
