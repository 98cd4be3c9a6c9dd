package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"snag/remedies/knob"
	"snag/remedies/plan"
)

// Remedy is how an incident is healed by what snag itself plans, and by what a person
// would do besides.
type Remedy struct {
	// Start builds the incident in a form in which the setting is what is wrong; nil:
	// as its sick variant.
	Start func(*Stage) error
	// Restart are the programs that are started again once the settings are made, as the
	// plan asks for it, each with the arguments that follow its advice; nil: as they were.
	Restart map[string]func(argv []string) []string
	// Wrong are the changes of a plan that does not help, by someone who read another
	// blog: Now is read on the spot. Its targets name namespaces and groups by their short
	// names.
	Wrong []plan.Change
	// Settle is how long the effects of the old values last; 0: 2 s.
	Settle time.Duration
	// Culprit is the short name of the culprit's namespace: beside other incidents snag find
	// is asked about that one, as someone would who knows which service hurts.
	Culprit string
	// Auto has snag tune apply --auto measure the outcome, in place of snag tune verify.
	Auto bool
	// For is the least length of a recording that shows the symptom well; 0: any.
	For time.Duration
}

// RemedyResult is one run of an incident's remedy.
type RemedyResult struct {
	Incident string `json:"incident"`
	Wrong    bool   `json:"wrong"` // a plan that does not help
	// Outcome as snag tune verify has it; "" where it did not come to that.
	Outcome string   `json:"outcome"`
	Why     string   `json:"why,omitempty"`
	Changes []string `json:"changes,omitempty"`
	Text    string   `json:"text,omitempty"` // what verify measured
	// Back reports that all old values were there again after undo.
	Back    bool    `json:"back"`
	Seconds float64 `json:"seconds"`
}

// Right reports whether the remedy healed, or the wrong one was not said to.
func (r RemedyResult) Right() bool {
	if r.Wrong {
		return r.Back && r.Outcome != "" && r.Outcome != "gone" && r.Outcome != "reduced"
	}
	return r.Back && r.Outcome == "gone"
}

// RunRemedy makes an incident, has snag find it, plan, apply, verify and undo, each by
// its command line.
func RunRemedy(ctx context.Context, inc Incident, wrong bool, o RunOptions) (res RemedyResult, err error) {
	res = RemedyResult{Incident: inc.Name, Wrong: wrong}
	if inc.Remedy == nil {
		return res, fmt.Errorf("lab: %s has no remedy that snag can apply here", inc.Name)
	}
	for _, t := range Missing(inc) {
		return res, fmt.Errorf("lab: %s needs the command %s: apt-get install %s", inc.Name, t.Command, t.Package)
	}
	if o.SnagPath == "" {
		return res, errNoSnag
	}
	begin := time.Now()
	defer func() { res.Seconds = time.Since(begin).Seconds() }()
	log := func(format string, args ...any) {
		if o.Stdout != nil {
			fmt.Fprintf(o.Stdout, format+"\n", args...)
		}
	}
	s, err := NewStage(ctx, Options{Log: log, Shared: o.Shared, Suffix: o.Suffix, Level: o.Level, Snag: o.SnagPath, Out: o.Out})
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Able(inc); err != nil {
		return res, err
	}
	log("%s: starting", inc.Name)
	start := inc.Remedy.Start
	if start == nil {
		start = func(s *Stage) error { return inc.Start(s, Sick) }
	}
	if err := s.Start(Incident{Start: func(s *Stage, _ Variant) error { return start(s) }}, Sick); err != nil {
		return res, err
	}
	t := &treatment{s: s, inc: inc, o: o, log: log, store: filepath.Join(s.Dir(), "tune"), before: filepath.Join(s.Dir(), "before")}
	if o.Out != "" {
		t.before = o.Out
	}
	t.o.For = max(o.For, inc.Remedy.For, leastBefore)
	return res, errors.Join(t.run(&res, wrong), s.Err())
}

// leastBefore is how long the recording before is at least: trouble that was there all the
// time of a shorter one may have been one episode, and verify says that it is too early.
const leastBefore = 20 * time.Second

// treatment is one remedy on its stage.
type treatment struct {
	s             *Stage
	inc           Incident
	o             RunOptions
	log           func(string, ...any)
	store, before string
}

func (t *treatment) run(res *RemedyResult, wrong bool) error {
	find := []string{"find", "--for", t.o.For.String(), "--quiet", "--json", "--out", t.before}
	if in := t.inc.Remedy.Culprit; in != "" && t.o.Shared {
		find = append(find, "--netns", t.s.Name(in))
	}
	found, err := t.snag(0, find...)
	if err != nil {
		return err
	}
	subject, err := t.accused(found)
	if err != nil {
		res.Why = err.Error()
		return nil
	}
	path := filepath.Join(t.s.Dir(), "plan.yaml")
	if _, err := t.snag(0, "tune", "plan", t.before, "--out", path); err != nil {
		return err
	}
	p, err := plan.ReadFile(path)
	if err != nil {
		return err
	}
	// Another incident of this machine may come first.
	p.For.Suspect, p.For.Subject = t.inc.Want.Suspect, subject
	if p.Changes = t.own(p.Changes); wrong {
		if p.Changes, err = t.wrong(); err != nil {
			return err
		}
	}
	for _, c := range p.Changes {
		res.Changes = append(res.Changes, fmt.Sprintf("%s: %s → %s", c.Target, c.Now, c.Then))
	}
	text, err := p.Text()
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		return err
	}
	if len(p.Changes) == 0 {
		res.Why = "the plan has no change that snag could make"
		return nil
	}
	store := []string{"--store", t.store, "--run", t.store + "-run"}
	measure := append([]string{"--quiet", "--json"}, store...)
	if wrong { // that it is as before is seen at once
		measure = append(measure, "--for", t.o.For.String())
	}
	if t.inc.Remedy.Auto {
		measured, err := t.snag(-1, append([]string{"tune", "apply", path, "--auto"}, measure...)...)
		return errors.Join(err, t.judged(res, measured, path, store))
	}
	if _, err := t.snag(0, append([]string{"tune", "apply", path, "--within", "10m"}, store...)...); err != nil {
		return err
	}
	for name, edit := range t.inc.Remedy.Restart {
		if wrong {
			edit = nil // who plans wrong has not read the advice
		}
		t.s.Restart(name, edit)
	}
	settle := t.inc.Remedy.Settle
	if settle == 0 {
		settle = 2 * time.Second
	}
	verified, err := t.snag(-1, append([]string{"tune", "verify", "--settle", settle.String()}, measure...)...)
	return errors.Join(err, t.judged(res, verified, path, store))
}

// judged takes the outcome that was printed, and has the plan undone.
func (t *treatment) judged(res *RemedyResult, printed, path string, store []string) (err error) {
	if printed != "" {
		err = res.verified(printed)
	}
	_, undo := t.snag(0, append([]string{"tune", "undo"}, store...)...)
	// The same plan could be applied once more: every value is what it was.
	_, again := t.snag(0, append([]string{"tune", "apply", path, "--dry-run"}, store...)...)
	res.Back = undo == nil && again == nil
	return errors.Join(err, undo, again)
}

// verified takes what snag tune verify --json printed.
func (r *RemedyResult) verified(raw string) error {
	type figure struct{ Value, Low, High float64 }
	type compared struct {
		What, Unit    string
		Before, After figure
	}
	var v struct {
		Outcome, Why string
		Felt         compared
		Cause        *compared
		Load         *struct {
			Unit  string
			Ratio float64
		}
	}
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		return fmt.Errorf("lab: read what snag tune verify printed: %w", err)
	}
	r.Outcome, r.Why = v.Outcome, v.Why
	say := func(c compared) string {
		return fmt.Sprintf("%s %.3g [%.3g, %.3g] → %.3g [%.3g, %.3g] %s", c.What, c.Before.Value, c.Before.Low, c.Before.High, c.After.Value, c.After.Low, c.After.High, c.Unit)
	}
	r.Text = say(v.Felt)
	if v.Cause != nil {
		r.Text += "; " + say(*v.Cause)
	}
	if v.Load != nil {
		r.Text += fmt.Sprintf("; load × %.2f (%s)", v.Load.Ratio, v.Load.Unit)
	}
	return nil
}

// accused is the subject of the culprit that is right.
func (t *treatment) accused(raw string) (string, error) {
	a, err := ParseAnswer([]byte(raw))
	if err != nil {
		return "", err
	}
	right, err := t.inc.Want.cause()
	if err != nil {
		return "", err
	}
	for _, c := range a.Culprits() {
		if right.Is(c) {
			return string(c.Subject), nil
		}
	}
	return "", fmt.Errorf("snag find named other culprits: %v %s; symptoms: %v", a.Culprits(), a.Abstained, a.Symptoms)
}

// own leaves out what is not the stage's: on a machine with other incidents a verdict
// may name their culprits too.
func (t *treatment) own(all []plan.Change) (out []plan.Change) {
	for _, c := range all {
		own := c.Target.Netns == "" && c.Target.Path == "" || strings.HasPrefix(c.Target.Netns, t.s.id+"-") || strings.Contains(c.Target.Path, t.s.id+"-")
		if c.Target.PID != 0 {
			own = t.s.has(c.Target.PID)
		}
		if own {
			out = append(out, c)
		}
	}
	return out
}

// has reports whether a process is one of the stage's.
func (s *Stage) has(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.procs, func(p *Process) bool { return p.PID == pid })
}

// wrong is the plan that does not help, with the values that are there now.
func (t *treatment) wrong() ([]plan.Change, error) {
	var out []plan.Change
	for i, c := range t.inc.Remedy.Wrong {
		if c.Target.Netns != "" {
			c.Target.Netns = t.s.Name(c.Target.Netns)
		}
		if c.Target.Path != "" {
			c.Target.Path = "/" + t.s.Name(c.Target.Path)
		}
		now, err := knob.Kinds[c.Target.Kind].Read(knob.Real(), c.Target)
		if err != nil {
			return nil, fmt.Errorf("lab: the wrong plan: %w", err)
		}
		c.ID, c.Now, c.Why = fmt.Sprint(i+1), now, "a blog said so"
		out = append(out, c)
	}
	return out, nil
}

// snag runs snag to its end and returns what it printed. want is the exit code that is
// right; 0 stands for 10 too (a culprit was found), -1 for any that is no failure.
func (t *treatment) snag(want int, args ...string) (string, error) {
	t.log("snag %s", strings.Join(args, " "))
	out := filepath.Join(t.s.Dir(), "snag.out")
	p := t.s.Run("", "snag", append([]string{t.o.SnagPath}, args...), MayEnd(), stdoutTo(out))
	if err := t.s.Err(); err != nil {
		return "", err
	}
	select {
	case <-p.done:
	case <-t.s.ctx.Done():
		return "", t.s.ctx.Err()
	case <-time.After(t.o.For + 7*time.Minute): // verify takes 5 minutes at most
		return "", fmt.Errorf("lab: snag %s has not ended 2 minutes after it should", strings.Join(args, " "))
	}
	if dead := t.s.dead(); dead != nil {
		return "", fmt.Errorf("lab: while snag %s ran: %w", args[0], dead)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		return "", err
	}
	code := p.state.ExitCode()
	if code == want || want == 0 && args[0] == "find" && (code == 10 || code == 11) || want < 0 && (code == 0 || code >= 10) {
		return string(raw), nil
	}
	return "", fmt.Errorf("lab: snag %s: %v: %s", strings.Join(args, " "), p.state, p.tail())
}
