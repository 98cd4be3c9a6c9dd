package agent

import (
	"context"
	"errors"

	"snag/internal/mcp"
)

type lookBackIn struct {
	At   string `json:"at,omitempty" doc:"this time, from 20 s before to 10 s after: 14:17:28 or 2026-11-21T14:17:28Z"`
	From string `json:"from,omitempty" doc:"from this time on"`
	To   string `json:"to,omitempty" doc:"with from: until this time; default now"`
	Last string `json:"last,omitempty" doc:"the most recent part, as 10m; 2h at most"`
	target
}

func (d *desk) lookBack() mcp.Tool {
	return tool[lookBackIn, Answer]("look_back", "Find what was slow at a time that has passed",
		`Judge a time that has passed, where snag record ran on this host (snag find --at). Give one of at, from and last. Nothing new is measured.`,
		func(ctx context.Context, in lookBackIn, p mcp.Progress) (mcp.Result, error) {
			if in.At == "" && in.From == "" && in.Last == "" {
				return mcp.Result{}, errors.New("give one of at, from and last: find looks at the host as it is now")
			}
			c := Command{Name: "find", Flags: []string{"--json"}}
			c.flag("at", in.At)
			c.flag("from", in.From)
			c.flag("to", in.To)
			c.flag("last", in.Last)
			in.flags(&c)
			c.flag("ring", d.Ring)
			return d.recorded(ctx, c, d.reading, 0, p)
		})
}
