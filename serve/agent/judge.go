package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"snag/internal/mcp"
)

type judgeIn struct {
	Recording string `json:"recording,omitempty" doc:"the ID of a recording, or the path of one"`
	Incident  int    `json:"incident,omitempty" doc:"instead: the number of an incident (tool incidents)"`
	Baseline  string `json:"baseline,omitempty" doc:"compare with this recording of a good time: an ID or a path"`
	SLO       string `json:"slo,omitempty" doc:"how long an answer may take, as 50ms"`
}

func (d *desk) judge() mcp.Tool {
	return tool[judgeIn, Answer]("judge", "Judge a recording",
		`Judge a recording that was made before, on this host or another one (snag judge), or an incident that snag record kept (snag incidents show).`,
		func(ctx context.Context, in judgeIn, p mcp.Progress) (mcp.Result, error) {
			c := Command{Name: "judge", Flags: []string{"--json"}}
			c.flag("slo", in.SLO)
			if err := d.baseline(&c, in.Baseline); err != nil {
				return mcp.Result{}, err
			}
			switch {
			case (in.Recording == "") == (in.Incident == 0):
				return mcp.Result{}, errors.New("give either recording or incident")
			case in.Recording != "":
				path, err := d.recordings.path(in.Recording)
				if err != nil {
					return mcp.Result{}, err
				}
				c.Args = []string{path}
				return d.judged(ctx, c, d.reading, 0, p, path, false)
			case in.Baseline != "" || in.SLO != "":
				return mcp.Result{}, errors.New("baseline and slo are for recording, not for incident: judge it by its path")
			case in.Incident < 0:
				return mcp.Result{}, fmt.Errorf("incident %d: numbers begin at 1", in.Incident)
			}
			c = Command{Name: "incidents show", Flags: []string{"--json"}, Args: []string{strconv.Itoa(in.Incident)}}
			c.flag("ring", d.Ring)
			return d.judged(ctx, c, d.reading, 0, p, "", false)
		})
}
