package readers

import (
	"context"
	"strings"

	"snag/readers/reader"
	"snag/readers/sides"
	"snag/readers/strace"
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
			told := sides.Read(ctx, [2]string{a, b}, callsOf(files), out)
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

// callsOf gives the calls of all traces that were given, one more time.
func callsOf(files []file) sides.Calls {
	var set, alone []file
	for _, f := range files {
		switch {
		case f.format.Name != strace.Format.Name || f.in.Size == 0:
		case f.opt.PID != 0:
			set = append(set, f)
		default:
			alone = append(alone, f)
		}
	}
	if len(set)+len(alone) == 0 {
		return nil
	}
	return func(ctx context.Context, each func(sides.Call)) error {
		moved := func(m strace.Moved) {
			each(sides.Call{PID: m.PID, Comm: m.Comm, Remote: m.Remote, Read: m.Read, Begin: m.Begin, End: m.End})
		}
		for _, f := range alone {
			if err := strace.Moves(ctx, []string{f.in.Path}, []reader.Options{f.opt}, moved); err != nil {
				return err
			}
		}
		if len(set) == 0 {
			return nil
		}
		var paths []string
		var opt []reader.Options
		for _, f := range set {
			paths, opt = append(paths, f.in.Path), append(opt, f.opt)
		}
		return strace.Moves(ctx, paths, opt, moved)
	}
}
