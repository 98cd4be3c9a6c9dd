package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"snag/fleet/drain"
	"snag/fleet/drain/plan"
	"snag/internal/shown"
	"snag/internal/units"
)

// drainOutput shows what a drain does: a line each, or an object of JSON each.
type drainOutput struct {
	out  io.Writer
	json bool
	plan string
	err  error // of the first line that could not be written
}

// begin says what is about to be done.
func (o *drainOutput) begin(p *plan.Plan, resumed bool) {
	e := drain.Begun(p)
	if resumed {
		e.Text += "; it goes on where it was"
	}
	e.At = time.Now()
	o.show(e)
}

func (o *drainOutput) show(e drain.Event) {
	var err error
	if o.json {
		err = json.NewEncoder(shown.JSON(o.out)).Encode(e)
	} else {
		_, err = io.WriteString(o.out, o.text(e))
	}
	if o.err == nil {
		o.err = err
	}
}

func (o *drainOutput) text(e drain.Event) string {
	text := o.line(e)
	if e.At.IsZero() || strings.HasPrefix(text, "\n") { // a dry run has no times
		return text + "\n"
	}
	return e.At.Local().Format(time.TimeOnly) + "  " + text + "\n"
}

func (o *drainOutput) line(e drain.Event) string {
	took := ""
	if e.Seconds > 0 {
		took = "  (" + lasting(e.Seconds) + ")"
	}
	step := fmt.Sprintf("  %-12s %-8s ", e.Peer, e.Phase)
	switch e.Event {
	case drain.EvBegun:
		return fmt.Sprintf("%s: %s", o.plan, e.Text)
	case drain.EvBatch:
		return fmt.Sprintf("batch %d of %d: %s", e.Batch, e.Of, strings.Join(e.Peers, ", "))
	case drain.EvDid, drain.EvPassed:
		return step + e.Text + took
	case drain.EvFailed:
		return step + "FAILED: " + e.Text + took
	case drain.EvWaits:
		return step + strings.TrimSpace(e.Text+" waiting, at most "+lasting(e.Seconds))
	case drain.EvHealthy:
		return "healthy: " + e.Text
	case drain.EvUnknown:
		return "not known to be healthy: " + e.Text
	case drain.EvPause:
		return "pause of " + lasting(e.Seconds)
	case drain.EvStopped:
		return o.stopped(e)
	case drain.EvDone:
		return fmt.Sprintf("\nDONE: %s in %s", e.Text, lasting(e.Seconds))
	}
	return e.Text
}

func lasting(seconds float64) string {
	return units.Seconds(time.Duration(seconds * float64(time.Second)))
}

func (o *drainOutput) stopped(e drain.Event) string {
	where := "before the first batch"
	if e.Batch > 0 {
		where = fmt.Sprintf("in batch %d of %d", e.Batch, e.Of)
	}
	if e.Peer != "" {
		where += fmt.Sprintf(", %s of %s", e.Phase, e.Peer)
	}
	text := fmt.Sprintf("\nSTOPPED %s: %s", where, e.Text)
	if len(e.Out) > 0 {
		text += "\n  out of service: " + strings.Join(e.Out, ", ")
	}
	if len(e.Left) > 0 {
		text += "\n  not restarted: " + strings.Join(e.Left, ", ")
	}
	switch {
	case e.Batch == 0:
	case e.Why == drain.Signal:
		text += fmt.Sprintf("\n  next: snag drain %s --resume", o.plan)
	default:
		text += fmt.Sprintf("\n  next: repair it, then snag drain %s --resume", o.plan)
	}
	return text
}
