package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"snag/cmd/snag/live"
	"snag/probes/streams/watch"
)

// How often what is not an event is written.
const (
	summaryEvery = 10 * time.Second
	figuresEvery = 5 * time.Second // of --json: the sums are over as long
)

func newOutput(f watchFlags) output {
	switch {
	case f.json:
		out := live.NewJSON(os.Stdout)
		out.Group = f.group
		return jsonOutput{out}
	case isTerminal(os.Stdout) && isTerminal(os.Stdin) && !f.plain:
		out := live.NewScreen()
		out.Group = f.group
		return &tableOutput{out}
	}
	return plainOutput{newLines(f.group)}
}

func newLines(group string) *live.Lines {
	out := live.NewLines(os.Stdout)
	out.Group = group
	return out
}

type plainOutput struct{ *live.Lines }

// Show writes a summary now and then, and a last one.
func (p plainOutput) Show(ctx context.Context, snapshot func() watch.Snapshot) error {
	periodically(ctx, summaryEvery, func() {
		snap := snapshot()
		p.Summary(&snap)
	})
	return nil
}

type jsonOutput struct{ *live.JSON }

// Show writes the figures and a summary now and then, and a last time.
func (j jsonOutput) Show(ctx context.Context, snapshot func() watch.Snapshot) error {
	turn := 0
	periodically(ctx, figuresEvery, func() {
		snap := snapshot()
		j.Figures(&snap)
		if turn++; turn%int(summaryEvery/figuresEvery) == 0 || ctx.Err() != nil {
			j.Summary(&snap)
		}
	})
	return nil
}

// periodically does it each period until ctx ends, and once more then.
func periodically(ctx context.Context, period time.Duration, do func()) {
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			do()
			return
		case <-t.C:
			do()
		}
	}
}

// tableOutput is the live table.
type tableOutput struct{ *live.Screen }

// Event shows it under the table.
func (t *tableOutput) Event(h watch.Happened) { t.Screen.Event(h) }

// Show runs the table, and leaves a summary on the terminal when it is gone.
func (t *tableOutput) Show(ctx context.Context, snapshot func() watch.Snapshot) error {
	color := os.Getenv("NO_COLOR") == ""
	err := t.Run(ctx, snapshot, color, os.Stdin, os.Stdout)
	snap := snapshot()
	newLines(t.Group).Summary(&snap)
	if err != nil {
		return fmt.Errorf("show the table: %w (--plain writes lines instead)", err)
	}
	return nil
}
