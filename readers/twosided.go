package readers

import (
	"context"
	"fmt"
	"strings"

	"snag/internal/packet"
	"snag/readers/reader"
	"snag/readers/sides"
	"snag/readers/strace"
	"snag/recording"
)

// mostCompared captures are held against each other, each with each.
const mostCompared = 8

// surveyed are the captures among the files, and which connections they share. A pipe
// can't be read twice.
type surveyed struct {
	names  []string
	path   *sides.Path // nil: there are no two
	failed []recording.Coverage
	// pipes are sentences on captures that can't be compared.
	pipes []string
}

// survey looks at all captures once, to find connections that are on several.
func survey(ctx context.Context, files []file, only func(*packet.Packet) bool) (s surveyed) {
	captures := 0
	rings := map[string]int{}
	for _, f := range files {
		if f.format.SetOf != nil {
			rings[f.format.SetOf(f.in.Path)]++
		}
	}
	for _, f := range files {
		switch {
		case f.format.Name != "pcap":
			continue
		case rings[f.format.SetOf(f.in.Path)] > 1 && f.format.SetOf(f.in.Path) != "":
			continue // its files are one after the other, and no two ends of anything
		case f.in.Size == 0:
			s.pipes = append(s.pipes, fmt.Sprintf("read %s: it is a pipe, which can't be read twice: it is not compared with the other captures (save it as a file first)", f.in.Path))
		case len(s.names) < mostCompared:
			s.names = append(s.names, f.in.Path)
		}
		captures++
	}
	if captures < 2 {
		s.pipes = nil
	}
	if len(s.names) < 2 {
		return s
	}
	var all []*sides.Capture
	for _, name := range s.names {
		c, err := sides.Survey(ctx, name, len(s.names), only)
		if err != nil {
			s.failed = append(s.failed, recording.Coverage{Probe: sides.Measure, State: recording.CoverageFailed, Why: fmt.Sprintf("compare it with the other captures: %v", err)})
			continue
		}
		all = append(all, c)
	}
	s.path = sides.NewPath(all)
	return s
}

// compare looks at captures of both ends of the same connections, as a source of its
// own: where the time of their requests passed.
func (in *intake) compare(ctx context.Context, s surveyed, files []file, looks []serverLook, clocks hostClocks) {
	if s.path == nil {
		return
	}
	k := in.sink(in.add(&source{name: strings.Join(s.names, " + "), format: "sides"}))
	told := s.join(ctx, callsOf(files), looks, clocks, k)
	k.of.span = recording.Interval{}
	for _, s := range in.sources {
		if s.format == "pcap" && s.span.Start != 0 {
			k.of.see(s.span.Start, s.span.End)
		}
	}
	told.First, told.Last = k.of.span.Start, k.of.span.End
	k.ended(told, nil)
}

// join follows each connection between the first and the last capture that has it.
func (s surveyed) join(ctx context.Context, calls sides.Calls, looks []serverLook, clocks hostClocks, out recording.Sink) (all reader.Told) {
	shift := clocks.offsetOf
	all.Coverage = s.failed
	hops := s.path.Hops()
	if len(hops) == 0 && len(s.path.Pairs) > 0 {
		row, _ := s.path.Pairs[0].Told(sides.Result{}, nil)
		all.Coverage = append(all.Coverage, row)
	}
	best := 0
	for _, h := range hops {
		if ctx.Err() != nil {
			break
		}
		by := sides.Shift{int64(shift(h.Path(0))), int64(shift(h.Path(1)))}
		h.Exact = clocks.oneClock(h.Path(0), h.Path(1))
		kept := &heldRequests{Sink: out}
		res, err := h.Join(ctx, calls, by, kept)
		row, facts := h.Told(res, err)
		all.Facts = append(all.Facts, facts...)
		kept.addHops(ctx, h, shift)
		for _, q := range kept.rows {
			inside(&q, looks)
			out.Append(q)
		}
		if len(h.Between) > 0 {
			all.Facts = append(all.Facts, recording.Fact{T: res.First, Name: "sides.path", Value: h.Text(), Source: "snag read"})
		}
		// Of several pairs the one that has most connections in common speaks for all.
		if n := h.Connections(); n > best {
			best, all.Coverage = n, append(s.failed[:len(s.failed):len(s.failed)], row)
		}
	}
	return all
}

// heldRequests keeps the whole requests, of which there are few, until their hops are
// known, and lets everything else pass.
type heldRequests struct {
	recording.Sink
	rows []recording.Request
}

// Append is of recording.Sink.
func (k *heldRequests) Append(row recording.Row) {
	if q, ok := row.(recording.Request); ok {
		k.rows = append(k.rows, q)
		return
	}
	k.Sink.Append(row)
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
