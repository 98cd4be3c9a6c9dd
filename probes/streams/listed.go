package streams

import (
	"context"
	"fmt"
	"strings"

	"snag/probes/probe"
	"snag/probes/streams/watch"
	"snag/recording"
)

// Listed is the probe where a server's own list names streams, beside those that are
// asked for by their URLs; left is how many more it lists that are not to be read. It
// stands in Probe's place (probes.Plan.Reading).
func Listed(entries []watch.Entry, left int) *probe.Probe {
	return &probe.Probe{Name: name, Start: func(ctx context.Context, env *probe.Env) (probe.Running, error) {
		if len(entries)+len(env.Streams) == 0 && env.Layers == "" {
			return none(env, "the servers list no stream that is published now"), nil
		}
		return startWith(ctx, env, entries, left)
	}}
}

// cutOff says of the figures that more streams are asked for than were read; whose says by whom ("the servers list").
func cutOff(c recording.Coverage, left int, whose string) recording.Coverage {
	if c.Probe != measureFigures || left == 0 {
		return c
	}
	if c.State == recording.CoverageOK {
		c.State, c.Cure = recording.CoveragePartial, "more at a time (--max-streams), or --stream with those that matter"
	}
	c.Why = strings.TrimPrefix(fmt.Sprintf("%s; of the streams that %s %d were not read", c.Why, whose, left), "; ")
	return c
}
