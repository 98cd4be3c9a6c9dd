package elimination

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Outcome is what snag eliminate said of one situation.
type Outcome struct {
	Situation string         `json:"situation"`
	Seed      uint64         `json:"seed"`
	Values    map[string]any `json:"values"`
	First     string         `json:"first"`
	Found     []string       `json:"found"`
	Left      []string       `json:"left"` // found ones among them
	By        []string       `json:"by"`   // which experiment showed each that is found
	Seconds   float64        `json:"seconds"`
	// Measures are snag's own, to look at afterwards.
	Measures json.RawMessage `json:"measures"`
	// Right: one of the guilty is found, and named first; or nobody is found where all is well. Where the run on the
	// server is what decides: it rules the others out, and none of the guilty.
	Right bool `json:"right"`
	// RuledOut are the guilty ones that were ruled out.
	RuledOut []string `json:"guilty_ruled_out"`
}

// Options of a run.
type Options struct {
	Snag   string // the binary
	Self   string // as in lab.Options
	Suffix string
	Args   []string // more arguments of snag eliminate
	Log    func(format string, args ...any)
}

// within is how long snag eliminate may take, on a host that hardly gets a CPU.
const within = 3 * time.Minute

// Run makes a situation, runs snag eliminate on its client, and marks what it says.
func Run(ctx context.Context, s Situation, seed uint64, o Options) (out Outcome, err error) {
	for _, t := range append([]lab.Tool{lab.IP, lab.Unshare}, s.Needs...) {
		if !t.Installed() {
			return out, fmt.Errorf("lab: %s needs the command %s: apt-get install %s", s.Name, t.Command, t.Package)
		}
	}
	stage, err := lab.NewStage(ctx, lab.Options{Self: o.Self, Suffix: o.Suffix, Shared: true, Log: o.Log})
	if err != nil {
		return out, err
	}
	b := &Bench{Stage: stage, Draw: drawn.NewDraw(seed, s.Name)}
	defer func() {
		b.close()
		err = errors.Join(err, stage.Close())
	}()
	b.base()
	if err := errors.Join(s.build(b), stage.Err()); err != nil {
		return out, err
	}
	begun := time.Now()
	said, err := b.fromBothEnds(o)
	if err != nil {
		return out, fmt.Errorf("%s, seed %d: %w", s.Name, seed, err)
	}
	out = mark(s, b.struck, said)
	out.Seed, out.Values, out.Seconds = seed, b.Values, time.Since(begun).Seconds()
	return out, nil
}

// answer is what the mark needs of snag eliminate --json.
type answer struct {
	First    string
	Left     []standing
	RuledOut []standing `json:"ruled_out"`
	Untried  []standing `json:"not_measured"`
	Measures json.RawMessage
}

type standing struct{ Suspect, State, By string }

// fromBothEnds runs snag eliminate on the client, and before on the server where the situation needs that.
func (b *Bench) fromBothEnds(o Options) (answer, error) {
	if len(b.struck) > 0 {
		if _, err := b.eliminate(o, b.server, "server.json", "--here"); err != nil {
			return answer{}, err
		}
		b.args = append(b.args, "--server", filepath.Join(b.Dir(), "server.json"))
	}
	return b.eliminate(o, b.client, "eliminate.json")
}

// eliminate runs it in a namespace. What it prints is in a file.
func (b *Bench) eliminate(o Options, in, name string, more ...string) (a answer, err error) {
	file := filepath.Join(b.Dir(), name)
	argv := append([]string{"sh", "-c", `exec "$@" >"$0"`, file, o.Snag, "eliminate", b.url(), "--json"}, append(append(more, b.args...), o.Args...)...)
	if b.by != "" {
		argv = b.Resolving(fmt.Sprintf("nameserver %s\n", b.addr), argv...)
	}
	how := []lab.Option{lab.MayEnd()}
	if b.in != nil {
		how = append(how, lab.In(b.in))
	}
	p := b.Run(in, "eliminate", argv, how...)
	code, err := b.Finish(p, within)
	if err != nil {
		return a, err
	}
	if code != 0 && code != 10 && code != 11 {
		return a, fmt.Errorf("snag eliminate ended with %d: %s", code, p.Printed())
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(raw, &a)
}

// mark compares what was said with what is true. struck are those that the server's run was to rule out.
func mark(s Situation, struck []string, a answer) (out Outcome) {
	out.Situation, out.First = s.Name, a.First
	out.Measures = a.Measures
	for _, l := range append(slices.Clone(a.Left), a.Untried...) {
		out.Left = append(out.Left, l.Suspect)
		if l.State == "found" {
			out.Found, out.By = append(out.Found, l.Suspect), append(out.By, l.By)
		}
	}
	for _, r := range a.RuledOut {
		if slices.Contains(s.Guilty, r.Suspect) {
			out.RuledOut = append(out.RuledOut, r.Suspect)
		}
	}
	if len(s.Guilty) == 0 {
		out.Right = len(out.Found) == 0
		return out
	}
	out.Right = len(out.Found) > 0 && slices.Contains(s.Guilty, out.Found[0])
	if len(struck) > 0 {
		out.Right = len(out.RuledOut) == 0 && len(out.Found) == 0 && byServer(struck, a.RuledOut)
	}
	return out
}

// byServer reports whether the server's run ruled all of them out.
func byServer(struck []string, ruledOut []standing) bool {
	for _, name := range struck {
		if !slices.Contains(ruledOut, standing{name, "ruled out", "server"}) {
			return false
		}
	}
	return true
}
