package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"snag/internal/mcp"
	"snag/internal/units"
	"snag/remedies/plan"
	"snag/report"
)

type planIn struct {
	Recording string `json:"recording,omitempty" doc:"the ID or the path of a recording with a culprit; with role: audit this recording instead of the host as it is now"`
	Recorded  bool   `json:"recorded,omitempty" doc:"the values now are those of the recording"`
	Role      string `json:"role,omitempty" doc:"audit: name what is too small for udp-media, tcp-stream, cache or rpc"`
	Rate      string `json:"rate,omitempty" doc:"with role: what one stream must carry, as 40mbit"`
	RTT       string `json:"rtt,omitempty" doc:"with role: the round trip to the farthest peer, as 80ms"`
}

// auditTakes is how long an audit looks at the host.
const auditTakes = 3 * time.Second

func (d *desk) plan() mcp.Tool {
	t := tool[planIn, struct{}]("plan", "What would remedy the culprit",
		`Make the plan that would remedy a recording's culprit, or name what is too small for a role (snag tune plan). It changes nothing: a person reads it and carries it out with snag tune apply, which can undo it.`,
		func(ctx context.Context, in planIn, p mcp.Progress) (mcp.Result, error) {
			c := Command{Name: "tune plan", Flags: []string{"--json", "--leave-overdue"}}
			room, takes := d.reading, time.Duration(0)
			switch {
			case in.Role != "":
				c.Flags = append(c.Flags, "--audit")
				c.flag("role", in.Role)
				c.flag("rate", in.Rate)
				c.flag("rtt", in.RTT)
				if in.Recording == "" {
					room, takes = d.measuring, auditTakes
				}
			case in.Rate != "" || in.RTT != "":
				return mcp.Result{}, errors.New("rate and rtt are for an audit: give role as well")
			case in.Recording == "":
				return mcp.Result{}, errors.New("give recording, or role for an audit")
			}
			if in.Recorded {
				c.Flags = append(c.Flags, "--recorded")
			}
			if in.Recording != "" {
				path, err := d.recordings.path(in.Recording)
				if err != nil {
					return mcp.Result{}, err
				}
				c.Args = []string{path}
			}
			out, err := d.run(ctx, c, room, takes, p)
			if err != nil {
				return mcp.Result{}, err
			}
			return planned(out.JSON)
		})
	t.Output = plan.Schema()
	return t
}

// planned is a plan as an answer. A plan is short; one that is not is given without its longest part, the advice, and
// then without changes beyond the first.
func planned(text []byte) (r mcp.Result, err error) {
	p, err := plan.Parse(text)
	if err != nil {
		return r, fmt.Errorf("read the plan: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s for a person to apply, %s; nothing was changed\n\n", units.Plural(len(p.Changes), "change"), adviceOf(p))
	if err := report.WritePlan(&b, p, report.Options{}); err != nil {
		return r, err
	}
	end := ""
	if len(p.Changes) > 0 && p.For.Recording != "" {
		end = "\nA person carries it out, and can undo it:  snag tune plan " + p.For.Recording + " --out plan.yaml && sudo snag tune apply plan.yaml\n"
	}
	for n := len(p.Changes); ; n /= 2 {
		if r.Structured, err = structuredPlan(p); err != nil || len(r.Structured) <= mostBytes || n == 0 {
			break
		}
		p.Advice, p.Covered, p.Conflicts, p.Changes = nil, nil, nil, p.Changes[:n]
	}
	r.Text = firstLines(b.String(), mostBytes-len(end)) + end
	return r, err
}

func adviceOf(p *plan.Plan) string {
	return units.Plural(len(p.Advice), "piece") + " of advice"
}

func structuredPlan(p *plan.Plan) (json.RawMessage, error) {
	text, err := p.JSON()
	if err != nil {
		return nil, err
	}
	var raw json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	return written(raw)
}
