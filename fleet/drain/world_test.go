package drain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/fleet/drain/act"
	"snag/fleet/drain/health"
	"snag/fleet/drain/journal"
	"snag/fleet/drain/plan"
)

const four = `version: 1
batch: 2
canary: 1
peers: [{name: a, address: "10.0.0.1:80"}, {name: b, address: "10.0.0.2:80"}, {name: c, address: "10.0.0.3:80"}, {name: d, address: "10.0.0.4:80"}]
drain: [{run: [out, "{name}"]}]
leave: {connections: "{address}", timeout: 100ms}
restart: [{run: [stop, "{name}"]}, {run: [start, "{name}"]}]
ready: {tcp: "{address}", timeout: 100ms}
return: [{run: [in, "{name}"]}]
health: {checks: [{name: site, run: ["true"]}], every: 100ms, settle: 0s, unknown: 300ms, limit: 1s}
`

// world is a drain's world that a test makes.
type world struct {
	t    *testing.T
	plan *plan.Plan
	path string

	mu     sync.Mutex
	done   []string // commands
	events []Event
	// Each may be nil. command is called with each command as it is run.
	command func(text string) error
	left    func(address string) (float64, error)
	ready   func(address string) error
	look    func() health.Seen
}

func newWorld(t *testing.T, text string) *world {
	t.Helper()
	p, err := plan.Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, plan: p, path: filepath.Join(t.TempDir(), "journal")}
}

func (w *world) say(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// drain runs the plan, and gives the reason for which it stopped.
func (w *world) drain(ctx context.Context, how How) *Stop {
	w.t.Helper()
	j, err := journal.Open(w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer j.Close()
	g := ProgressOf(j.Records)
	if err := g.May(how, "sum"); err != nil {
		w.t.Fatal(err)
	}
	d := New(w.plan, j, g, World{
		Text: act.Text, Say: w.say, Poll: 5 * time.Millisecond,
		Do: func(_ context.Context, a plan.Action, _ plan.Phase) error {
			text := strings.Join(a.Run, " ")
			w.done = append(w.done, text)
			if w.command != nil {
				return w.command(text)
			}
			return nil
		},
		Count: func(_ context.Context, l plan.Leave) (float64, error) {
			if w.left != nil {
				return w.left(l.Connections)
			}
			return 0, nil
		},
		Ready: func(_ context.Context, r plan.Ready) error {
			if w.ready != nil {
				return w.ready(r.TCP)
			}
			return nil
		},
		Look: func(context.Context) health.Seen {
			s := health.Seen{}
			if w.look != nil {
				s = w.look()
			}
			s.At = time.Now()
			return s
		},
	})
	err = d.Run(ctx, how, "sum")
	var s *Stop
	if err != nil && !errors.As(err, &s) {
		w.t.Fatal(err)
	}
	return s
}

// did are the commands so far, as one text.
func (w *world) did() string { return strings.Join(w.done, ", ") }

func (w *world) want(did string) {
	w.t.Helper()
	if w.did() != did {
		w.t.Errorf("it did   %s\nand want %s", w.did(), did)
	}
}

func (s *Stop) describe() string {
	if s == nil {
		return "done"
	}
	return fmt.Sprintf("%s batch %d %s %s: %s; out %v, left %v", s.Why, s.Batch, s.Phase, s.Peer, s.Error(), s.Out, s.Left)
}
