package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"snag/internal/mcp"
	"snag/report"
)

// target are the arguments that say what is looked at.
type target struct {
	PID       int      `json:"pid,omitempty" doc:"look at this process and its children"`
	Unit      string   `json:"unit,omitempty" doc:"look at this systemd unit"`
	Port      int      `json:"port,omitempty" doc:"look at who listens on this port"`
	Container string   `json:"container,omitempty" doc:"look at this container: its name, or its id or how that begins"`
	Pod       string   `json:"pod,omitempty" doc:"look at this pod of Kubernetes, as NAMESPACE/NAME"`
	Netns     string   `json:"netns,omitempty" doc:"look at this network namespace, by name or inode"`
	Symptom   []string `json:"symptom,omitempty" doc:"what was seen, in words, with a time of day and a port, process or address where known"`
	Since     string   `json:"since,omitempty" doc:"when it began: a time (14:17:28, 2026-11-21T14:17:28Z) or how long ago (5m)"`
	SLO       string   `json:"slo,omitempty" doc:"how long an answer may take, as 50ms"`
}

func (t target) flags(c *Command) {
	c.number("pid", t.PID)
	c.flag("unit", t.Unit)
	c.number("port", t.Port)
	c.flag("container", t.Container)
	c.flag("pod", t.Pod)
	c.flag("netns", t.Netns)
	c.each("symptom", t.Symptom)
	c.flag("since", t.Since)
	c.flag("slo", t.SLO)
}

type findIn struct {
	For string `json:"for,omitempty" doc:"how long to record, as 10s or 2m; default 30s"`
	target
	Budget   string `json:"budget,omitempty" doc:"what a closer look at suspects may take of the machine's CPU time; default 2%; 0: no closer look"`
	Baseline string `json:"baseline,omitempty" doc:"compare with this recording of a good time: an ID or a path"`
}

func (d *desk) find() mcp.Tool {
	about := `Record this host for a while, judge it, and name the culprit with evidence and remedy (snag find). Without a target it looks at the whole machine. It takes as long as "for" says, and some seconds more.`
	if !d.Root {
		about += " snag does not run as root here: it sees less, and says what it could not see."
	}
	return tool[findIn, Answer]("find", "Find what is slow now", about, func(ctx context.Context, in findIn, p mcp.Progress) (mcp.Result, error) {
		c := Command{Name: "find", Flags: []string{"--json"}}
		c.flag("for", in.For)
		in.flags(&c)
		c.flag("budget", in.Budget)
		c.flag("ring", d.Ring)
		if err := d.baseline(&c, in.Baseline); err != nil {
			return mcp.Result{}, err
		}
		return d.recorded(ctx, c, d.measuring, duration(in.For, 30*time.Second), p)
	})
}

func (d *desk) baseline(c *Command, name string) error {
	if name == "" {
		return nil
	}
	path, err := d.recordings.path(name)
	c.flag("baseline", path)
	return err
}

// recorded runs a command that makes a recording and judges it. Where it fails or is cancelled, the recording is
// removed.
func (d *desk) recorded(ctx context.Context, c Command, room chan struct{}, takes time.Duration, p mcp.Progress) (mcp.Result, error) {
	dir, remove, err := d.folder()
	if err != nil {
		return mcp.Result{}, fmt.Errorf("make a folder for the recording: %w", err)
	}
	c.flag("out", dir)
	r, err := d.judged(ctx, c, room, takes, p, "", true)
	if err != nil {
		remove()
	}
	return r, err
}

// judged runs a command that writes a verdict, and answers with it. path is the recording's, "" for what the verdict
// says; own: the server made it.
func (d *desk) judged(ctx context.Context, c Command, room chan struct{}, takes time.Duration, p mcp.Progress, path string, own bool) (mcp.Result, error) {
	out, err := d.run(ctx, c, room, takes, p)
	if err != nil {
		return mcp.Result{}, err
	}
	var doc report.Document
	if err := json.Unmarshal(out.JSON, &doc); err != nil {
		return mcp.Result{}, fmt.Errorf("read the verdict of snag %s: %w", c.Name, err)
	}
	if path == "" {
		path = doc.Recording
	}
	of := fmt.Sprintf("%s, %s, %.0f s: %s", doc.Host, doc.Window.Start, doc.Window.Seconds, doc.Standing)
	return result(&doc, d.recordings.add(path, of, own, &doc))
}
