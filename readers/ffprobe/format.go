package ffprobe

import (
	"context"
	"errors"
	"fmt"
	"io"

	"snag/internal/stamp"
	"snag/readers/reader"
	"snag/recording"
)

// Format is what snag read needs of it.
var Format = reader.Format{
	Name:  "ffprobe",
	About: "what ffprobe wrote of packets or frames (-show_packets, -show_frames), with times of arrival (ts) or without",
	Sniff: func(head []byte) bool {
		w, _ := kindOf(head)
		return w != none
	},
	Read: read,
}

func read(ctx context.Context, in *reader.Input, o reader.Options, out recording.Sink) (reader.Told, error) {
	head := in.Head()
	writer, mark := kindOf(head)
	name := nameOf(in.Path)
	looks := lookAt(head, writer, mark)
	m := newMeasured(in.Path, looks, o, out)
	s := &scanner{writer: writer, mark: mark, clock: stamp.New(o.Zone, o.Modified), use: func(r *record) { m.take(name, r) }}
	lines := reader.NewLines(in)
	var told reader.Told
	var failed error
	for {
		line, whole, err := lines.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				failed = err
			}
			break
		}
		if told.Lines++; told.Lines%4096 == 0 && ctx.Err() != nil {
			return told, ctx.Err()
		}
		if whole || len(line) < 64<<10 {
			s.line(line)
		}
	}
	told.First, told.Last = m.end()
	told.Coverage = []recording.Coverage{m.coverage(told.First, lines.Cut)}
	return told, failed
}

func (m *measured) coverage(since recording.Time, cut uint64) recording.Coverage {
	c := recording.Coverage{Probe: "streams.figures", State: recording.CoverageOK, Since: since, Lost: cut}
	say := func(format string, args ...any) {
		c.State = recording.CoveragePartial
		if c.Why != "" {
			c.Why += "; "
		}
		c.Why += fmt.Sprintf(format, args...)
	}
	switch {
	case m.frames == 0:
		c.State, c.Why = recording.CoverageFailed, "no packet or frame of it has a time"
	case m.epoch:
		say("its times are those of arrival (-use_wallclock_as_timestamps): the stream's own clock is not known")
	case !m.timed:
		say("its lines have no time of arrival: only steps of the stream's own clock are seen, no freeze and no lateness, and when they were is by the file's last change")
		c.Cure = `script -qfc "ffprobe -v error -of compact -show_packets URL" /dev/null | ts %.s`
	}
	if m.look.coarse {
		say("its lines have whole seconds (ts %%.s has more): a freeze is one from %v on", coarseFreeze)
	}
	if m.look.bursty {
		say("it comes in bursts, as HLS does or a pipe that was written to in blocks: freezes are judged by what a player holds")
	}
	if m.lateBack > 0 {
		say("%d lines came before the one above them", m.lateBack)
	}
	if m.untimed > 0 {
		say("%d packets or frames have no time, or are of no track", m.untimed)
	}
	if m.kept.left > 0 {
		say("%d events over %d are left out", m.kept.left, mostHeld)
	}
	return c
}
