package logs

import (
	"context"
	"fmt"

	"snag/internal/stamp"
	"snag/readers/reader"
	"snag/recording"
)

// Format is what snag read needs of it.
var Format = reader.Format{
	Name:  "logs",
	About: "logs of services whose lines have a time (access and error logs, syslog, the journal, JSON lines, Wowza, Consul and others)",
	Sniff: func(head []byte) bool {
		return isExport(head) || formOf(head, stamp.New(utcZone, farFuture)) != nil
	},
	Read: func(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
		rules, err := rulesOf(o.Map)
		if err != nil {
			return reader.Told{}, err
		}
		return read(ctx, in, o, rules, out)
	},
}

// read reads a log with the rules of a map, or none.
func read(ctx context.Context, in *reader.Input, o reader.Options, rules []*rule, out recording.Sink) (reader.Told, error) {
	head := in.Head()
	g := newGather(in.Path, commOf(in.Path, head), o, out)
	if isExport(head) {
		err := readExport(ctx, in, stamp.New(o.Zone, o.Modified), rules, g)
		return g.finish("journal export"), err
	}
	clock := stamp.New(o.Zone, o.Modified)
	form := formOf(head, clock)
	if form == nil {
		return reader.Told{}, fmt.Errorf("read %s: no time is found in its lines: give a map that names it (snag read --map FILE)", in.Path)
	}
	g.manyHosts = form.hosts(head, clock) > 1
	p := &parser{form: form, clock: clock, columns: columnsOf(head), rules: rules}
	free := make(chan []entry, 16) // entries of pieces that were used
	parse := func(c reader.Chunk) []entry {
		var entries []entry
		select {
		case entries = <-free:
		default:
		}
		return p.chunk(c, entries[:0])
	}
	err := reader.EachChunk(ctx, in, parse, func(entries []entry) error {
		for i := range entries {
			g.entry(&entries[i])
		}
		select {
		case free <- entries:
		default:
		}
		return nil
	})
	return g.finish(form.name), err
}

// finish ends the reading and says what was measured.
func (g *gather) finish(form string) reader.Told {
	g.end()
	told := reader.Told{First: recording.Time(g.first), Last: recording.Time(g.last), Lines: g.lines}
	told.Coverage = g.coverage(form)
	if len(g.hosts) == 1 && !g.manyHosts {
		for host := range g.hosts {
			told.Host = shown(host)
		}
	}
	return told
}

func (g *gather) coverage(form string) []recording.Coverage {
	since := recording.Time(g.first)
	lines := recording.Coverage{Probe: "log.lines", State: recording.CoverageOK, Since: since, Lost: g.runs.left}
	say := func(c *recording.Coverage, format string, args ...any) {
		c.State = recording.CoveragePartial
		if c.Why != "" {
			c.Why += "; "
		}
		c.Why += fmt.Sprintf(format, args...)
	}
	if n := g.lines - g.timed; n > 0 {
		say(&lines, "%d of %d lines have no time (%s): they go on with the line above", n, g.lines, form)
	}
	if g.back > 0 {
		say(&lines, "%d lines are over 1 s older than the one above them", g.back)
	}
	if g.runs.left > 0 {
		say(&lines, "%d lines that report something are not events: a file has %d at most", g.runs.left, mostEvents)
	}
	if g.freezes.n > mostEvents {
		say(&lines, "freezes over %d are left out", mostEvents)
	}
	files := recording.Coverage{Probe: "logs.files", State: recording.CoverageOK, Since: since}
	requests := recording.Coverage{Probe: "log.requests", State: recording.CoverageOK, Since: since}
	switch {
	case g.requests == 0:
		requests.State, requests.Why = recording.CoverageOff, "its lines report no requests"
	case g.withTime == 0:
		requests.State, requests.Why = recording.CoverageUnavailable, "its lines don't say how long requests took"
		requests.Cure = `nginx: log_format timed '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent rt=$request_time upstream=$upstream_addr urt=$upstream_response_time'`
	case g.withTime < g.requests:
		say(&requests, "%d of %d requests have no time", g.requests-g.withTime, g.requests)
	}
	coarse := int64(1)
	for _, s := range g.order {
		if s.turns != nil {
			coarse = max(coarse, stride(s.turns.rows))
			requests.Lost += s.turns.late
		}
	}
	if coarse > 1 {
		say(&requests, "rows are of up to %d s: a second each would be too many", coarse)
	}
	connections := recording.Coverage{Probe: "log.connections", State: recording.CoverageOK, Since: since}
	named := false
	for _, s := range g.order {
		if s.sessions != nil {
			connections.Lost += s.sessions.left
			named = named || s.sessions.port
		}
	}
	switch {
	case g.sessions == 0:
		connections.State, connections.Why = recording.CoverageOff, "its lines report no connections that ended"
	case !named:
		say(&connections, "the listener's port is not in the log: RTMP's own (1935) is taken")
	}
	errs := recording.Coverage{Probe: "log.errors", State: recording.CoverageOK, Since: since}
	for _, s := range g.order {
		errs.Lost += s.failed.left
	}
	if g.errors == 0 && 10*(g.requests+g.sessions) >= 9*g.timed {
		errs.State, errs.Why = recording.CoverageOff, "an access log does not show which calls failed"
	}
	if g.errors > g.withPeers {
		say(&errs, "%d of %d errors name no peer", g.errors-g.withPeers, g.errors)
	}
	return []recording.Coverage{lines, files, requests, connections, errs}
}
