package drawn

import (
	"context"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/clientlog"
	"snag/lab/referee"
)

// Remedy is what became of the first culprit's command for now, in a run whose fault was on
// when snag find ended and stayed on.
type Remedy struct {
	// Withheld: no command was run, to see what clients measure without.
	Withheld bool `json:"withheld,omitempty"`
	// Suspect, Subject and Ref are the accusation that the command belongs to; empty where
	// nobody was accused.
	Suspect string      `json:"suspect,omitempty"`
	Subject lab.Subject `json:"subject,omitempty"`
	Ref     lab.Subject `json:"subject_ref,omitempty"`
	Command string      `json:"command,omitempty"` // "" where the remedy has none
	// NotRun is why the command was not run to its end.
	NotRun  string  `json:"not_run,omitempty"`
	Exit    int     `json:"exit_code"`
	Seconds float64 `json:"seconds,omitempty"`
	Output  string  `json:"output,omitempty"` // its last lines
	// Clients are the figures of each part of the run; none where nothing was run.
	Clients []Treated `json:"clients,omitempty"`
}

// Treated is what the clients of one family measured before the command and after it.
type Treated struct {
	// Before are the figures of the stretch of the window in which the fault was on; nil where
	// that is all of it, and the figures are the part's own, and where the fault had ended.
	Before *referee.Figures `json:"before,omitempty"`
	After  referee.Figures  `json:"after"`
}

// settling is how long after the command's end the clients' second window begins: as long as
// snag tune verify waits, and about as long as the fault is on before the first window. What
// was under way with the old values is done by then: a retransmission timer of a second, a
// queue of a second. A request that is still open counts, but what it waited before the
// command does not.
const settling = 2 * time.Second

// heals is what heal goes by.
type heals struct {
	withheld bool
	answer   lab.Answer
	benches  []*Bench
	stages   []*lab.Stage
	parts    []Part
	window   referee.Window
	logs     [][]clientlog.Log // of the window
}

// heal runs the first culprit's command, and measures the clients for a second window as long
// as the first. Nil: no fault goes on that it could heal.
func heal(ctx context.Context, h heals) (*Remedy, error) {
	goesOn := false
	for _, p := range h.parts {
		goesOn = goesOn || p.Truth.goesOn()
	}
	if !goesOn {
		return nil, nil
	}
	r := &Remedy{Withheld: h.withheld}
	if !h.withheld {
		if ran, err := r.command(ctx, h); !ran || err != nil {
			return r, err
		}
	}
	ended := time.Now()
	for _, b := range h.benches {
		b.askAnew()
	}
	again := referee.Window{From: ended.Add(settling)}
	again.To = again.From.Add(h.window.To.Sub(h.window.From))
	if err := wait(ctx, time.Until(again.To)+300*time.Millisecond); err != nil { // the logs are written every 100 ms
		return r, err
	}
	logs, err := readAll(h.benches)
	if err != nil {
		r.NotRun = "what came of it could not be measured: " + err.Error()
		return r, nil
	}
	for i, p := range h.parts {
		r.Clients = append(r.Clients, treated(p, h.window, h.logs[i], again, referee.Since(logs[i], ended)))
	}
	return r, nil
}

// command runs the first culprit's command, if there is one that may be run.
func (r *Remedy) command(ctx context.Context, h heals) (ran bool, err error) {
	culprits := h.answer.Culprits()
	if len(culprits) == 0 {
		return false, nil
	}
	first := culprits[0]
	r.Suspect, r.Subject, r.Ref, r.Command = first.Suspect, first.Subject, first.Ref, first.Now()
	if r.Command == "" {
		return false, nil
	}
	if r.NotRun = lab.Outside(h.stages, r.Command); r.NotRun != "" {
		return false, nil
	}
	pasted, err := lab.Paste(h.stages, r.Command)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		r.NotRun = err.Error()
		return false, nil
	}
	r.Exit, r.Seconds, r.Output = pasted.Exit, pasted.Seconds, pasted.Output
	return true, nil
}

// askAnew has the clients that keep to a schedule (Ask, open loop) leave out what fell due so far.
// Each of their connections stands for many users, who come one by one. Those who came before the
// command have gone, and are not what keeps the next ones waiting.
func (b *Bench) askAnew() {
	for _, p := range b.askers {
		_ = syscall.Kill(p.PID, syscall.SIGUSR2) // it may have ended
	}
}

// treated measures what there is to compare. Of a fault that began inside the first window, the
// stretch from then on is, and as much of the second window: the longer a window, the longer
// may clients that get no answer have waited in it.
func treated(p Part, first referee.Window, before []clientlog.Log, second referee.Window, after []clientlog.Log) (t Treated) {
	if p.Truth.goesOn() && p.Truth.Lasting == Begins {
		first.From = first.From.Add(seconds(p.Truth.Spans[0].From))
		f := referee.Measure(before, first)
		t.Before = &f
		second.To = second.From.Add(first.To.Sub(first.From))
	}
	t.After = referee.Measure(after, second)
	return t
}

// goesOn reports whether the fault was on all the time, or from some time in the window on, and
// was not taken back.
func (t *Truth) goesOn() bool {
	return t != nil && len(t.Spans) == 1 && (t.Lasting == Throughout || t.Lasting == Begins)
}

// Ongoing reports whether a fault of the draw will be on when the window ends: others tell
// nothing of remedies.
func (c Case) Ongoing() bool {
	for i, f := range c.Families {
		if len(f.Faults) == 0 {
			continue
		}
		name := ""
		if i == 0 {
			name = c.Fault
		}
		d := NewDraw(c.Seed, f.Name)
		fault, err := f.faultOf(d, name)
		if err != nil {
			return false
		}
		if lasting, _ := scheduleOf(d, fault, 1); lasting == Throughout || lasting == Begins {
			return true
		}
	}
	return false
}
