package perf

import (
	"bytes"
	"context"

	"snag/readers/perf/perfdata"
	"snag/readers/reader"
	"snag/recording"
)

// Formats are the files that profiles are kept in.
var Formats = []reader.Format{
	{Name: "perf.data", About: "perf.data", Sniff: perfdata.Is, Read: readDataInto},
	{Name: "pprof", About: "pprof's profiles (profile.pb.gz)", Sniff: sniffPprof, Read: readPprofInto, Whole: true},
	{Name: "speedscope", About: "speedscope's JSON", Sniff: sniffSpeedscope, Read: readSpeedscopeInto, Whole: true},
	{Name: "perf script", About: "the text of perf script", Sniff: sniffScript, Read: readScriptInto},
	{Name: "folded stacks", About: "folded stacks (stackcollapse, flamegraph.pl)", Sniff: sniffFolded, Read: readFoldedInto},
}

// sniffScript tells the text of perf script: of its first lines, most of those that
// are no frames begin a sample, and a time or a frame below says that they do.
func sniffScript(head []byte) bool {
	if bytes.HasPrefix(head, []byte("# ========\n# captured on")) {
		return true
	}
	var samples, others int
	pending := false // a header without a time: the next line tells
	for range 400 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if !whole {
			break
		}
		head = rest
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if line[0] == '\t' || line[0] == ' ' && isFrame(line) {
			if _, ok := parseFrame(line); ok && pending {
				samples++
				pending = false
			}
			continue
		}
		if pending {
			others++
		}
		h, ok := parseHeader(line)
		pending = ok && h.at < 0
		switch {
		case ok && h.at >= 0 && (h.event != nil || h.rest != nil):
			samples++
		case ok && h.at >= 0:
			pending = true
		case !ok && line[0] != ' ':
			others++
		}
	}
	return samples > 0 && samples >= others
}

func readScriptInto(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	head := in.Head()
	c := parseComments(head, o.Zone)
	p := c.place(firstTime(head), lastTime(in), o.Modified)
	l := newLines(newTally(out), p.base, c.hz)
	err := readScript(ctx, in, l)
	l.close()
	l.end()
	told := l.told("perf script", p)
	told.Lines, told.Foreign, told.Facts = l.read, l.noise, l.facts(c.facts)
	told.Host, told.Machine = c.host, c.machine
	told.Machine.CPUs = max(c.machine.CPUs, l.cpus)
	stacks := &told.Coverage[0]
	stacks.Lost += l.noise + l.lostSamples
	if l.noise > 0 {
		partial(stacks, "%d of %d lines are nothing of perf script's, or damaged", l.noise, l.read)
	}
	if l.cut > 0 {
		partial(stacks, "%d lines are cut, or longer than 1 MB", l.cut)
	}
	if l.lostSamples > 0 {
		partial(stacks, "perf lost %d records while it recorded", l.lostSamples)
	}
	if l.pidless > 0 {
		partial(stacks, "the lines name threads and not their processes: each thread stands for itself")
		cure(stacks, "perf script --header -F +pid")
	}
	if l.timeless > 0 {
		partial(stacks, "%d samples have no time: all are put at the file's", l.timeless)
		cure(stacks, "perf script -F +time")
	}
	if l.eventless > 0 {
		partial(stacks, "the lines do not say what was counted")
		cure(stacks, "perf script -F +event")
	}
	if l.periodless > 0 {
		partial(stacks, "%d samples have no period: each counts as one", l.periodless)
		cure(stacks, "perf script -F +period")
	}
	return told, err
}
