package agent

import (
	"context"
	"errors"

	"snag/internal/mcp"
)

type readIn struct {
	Files   []string `json:"files" doc:"paths on the host: captures, traces of strace, perf, logs of a JVM's collector, ffprobe, access logs …, plain or packed; all become one recording"`
	Symptom []string `json:"symptom,omitempty" doc:"what was seen, in words, with a time of day"`
	From    string   `json:"from,omitempty" doc:"judge nothing from before this time"`
	To      string   `json:"to,omitempty" doc:"judge nothing from after this time"`
	TZ      []string `json:"tz,omitempty" doc:"the zone of times without one, as Europe/Berlin or +02:00; FILE=ZONE for one file"`
	Only    string   `json:"only,omitempty" doc:"of captures only the packets that this filter of tcpdump matches"`
	Map     string   `json:"map,omitempty" doc:"what lines of logs mean: the name of a map (snag read --help)"`
}

// mostFiles are read in one call.
const mostFiles = 1000

func (d *desk) read() mcp.Tool {
	return tool[readIn, Answer]("read", "Judge files that other tools recorded",
		`Make one recording of files that other tools wrote, such as strace or tcpdump, and judge it (snag read).`,
		func(ctx context.Context, in readIn, p mcp.Progress) (mcp.Result, error) {
			if len(in.Files) == 0 || len(in.Files) > mostFiles {
				return mcp.Result{}, errors.New("give 1 to 1000 files")
			}
			c := Command{Name: "read", Flags: []string{"--json", "--quiet"}}
			c.each("symptom", in.Symptom)
			c.flag("from", in.From)
			c.flag("to", in.To)
			c.each("tz", in.TZ)
			c.flag("only", in.Only)
			c.flag("map", in.Map)
			var err error
			if c.Args, err = filesAt(in.Files); err != nil {
				return mcp.Result{}, err
			}
			return d.recorded(ctx, c, d.reading, 0, p)
		})
}
