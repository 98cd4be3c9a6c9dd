package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// RunOptions of one run.
type RunOptions struct {
	SnagPath string        // the snag whose find is judged
	For      time.Duration // how long find records
	// Keep leaves the incident going after the verdict until the context ends, to
	// look around in it; its programs still end after MaxLife.
	Keep bool
	// Judged is told the result as soon as it is known; nil for nobody.
	Judged func(Result)
	// Out is the folder of the recording; "" is one that goes with the stage.
	Out string
	// Level is how hard the incident hits; "" is Plain.
	Level Level
	// IgnoreElsewhere leaves out culprits in network namespaces that are neither
	// the lab's nor the one it was started in: for machines on which others make
	// incidents too. On a quiet machine it changes nothing.
	IgnoreElsewhere bool
	// Remedies: of a draw, the first culprit's command is run after the verdict, and the
	// clients go on for a second window.
	Remedies bool
	// Watches is a folder for what snag watch says beside snag find, of the same streams: with
	// --host, and as a viewer that sees nothing else. "" for none. See Watch.
	Watches string
	// Shared and Suffix are for tests that judge no real recording: see Options.
	Shared bool
	Suffix string
	Stdout io.Writer // progress; nil for none
}

// Result is one run compared with the truth.
type Result struct {
	Incident string        `json:"incident"`
	Variant  Variant       `json:"variant"`
	Outcome  Outcome       `json:"outcome"`
	Why      string        `json:"why,omitempty"`
	Culprits []AnswerEntry `json:"culprits,omitempty"`
	Answer   Answer        `json:"answer"`
	Seconds  float64       `json:"seconds"` // from the start of the incident to its verdict
	// FindSeconds is from the start of snag find to its verdict.
	FindSeconds float64 `json:"find_seconds,omitempty"`
	// Stolen is how much of the CPU time that the machine asked for meanwhile its hypervisor
	// gave to others, 0 to 1.
	Stolen float64 `json:"stolen,omitempty"`
	// Recording is its folder, and Baseline that of what it was compared with, "" for
	// nothing.
	Recording string `json:"-"`
	Baseline  string `json:"-"`
	// Namespaces are the inodes of the stage's network namespaces and of the one
	// that the lab was started in.
	Namespaces map[uint64]bool `json:"-"`
}

// errNoSnag is for a caller that names none: the lab's own binary finds nothing.
var errNoSnag = errors.New("lab: no snag is named that is to be judged (RunOptions.SnagPath)")

// FindIn sets how snag find is started beside the incident: in a cgroup, at a
// priority. For incidents of the observer itself.
func (s *Stage) FindIn(opts ...Option) { s.find = opts }

// FindAt sets the namespace that snag find is started in, and the streams that it
// watches from there, as a viewer would.
func (s *Stage) FindAt(ns string, streams ...string) { s.findAt, s.streams = ns, streams }

// FindLayers sets the namespace that snag find is started in, and the places at which
// it watches one stream: ingest=URL,edge=URL.
func (s *Stage) FindLayers(ns, layers string) { s.findAt, s.layers = ns, layers }

// Missing returns the tools of an incident that are not installed.
func Missing(inc Incident) []Tool {
	var out []Tool
	for _, t := range inc.Needs {
		if !t.Installed() {
			out = append(out, t)
		}
	}
	return out
}

// Run starts an incident, runs snag find on the whole machine beside it,
// compares the verdict with the truth and removes all that it made.
func Run(ctx context.Context, inc Incident, v Variant, o RunOptions) (Result, error) {
	return RunTogether(ctx, []Incident{inc}, v, o)
}

// RunTogether is Run for incidents that are on the machine at the same time, each
// on a stage of its own.
func RunTogether(ctx context.Context, incs []Incident, v Variant, o RunOptions) (res Result, err error) {
	res = Result{Incident: NameOf(incs), Variant: v}
	if o.For < time.Second || o.For > MaxLife/2 {
		return res, fmt.Errorf("lab: find for %v: want between 1s and %v", o.For, MaxLife/2)
	}
	for _, inc := range incs {
		for _, t := range Missing(inc) {
			return res, fmt.Errorf("lab: %s needs the command %s: apt-get install %s", inc.Name, t.Command, t.Package)
		}
		o.For = max(o.For, inc.Window)
	}
	var mu sync.Mutex // incidents may start at the same time
	log := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		if o.Stdout != nil {
			fmt.Fprintf(o.Stdout, format+"\n", args...)
		}
	}
	begin := time.Now()
	if o.SnagPath == "" {
		return res, errNoSnag
	}
	var stages stages
	defer func() { err = errors.Join(err, stages.close()) }()
	var wants []Want
	for _, inc := range incs {
		s, err := NewStage(ctx, Options{Log: log, Shared: o.Shared, Level: o.Level, Beside: stages, Snag: o.SnagPath, Out: o.Out})
		if err != nil {
			return res, err
		}
		stages = append(stages, s)
		if err := s.Able(inc); err != nil {
			return res, err
		}
		wants = append(wants, inc.WantIn(v))
	}
	if err := stages.start(incs, v); err != nil {
		return res, err
	}
	if o.Out == "" {
		o.Out = filepath.Join(stages[0].dir, "recording")
	}
	res.Recording = o.Out
	for _, s := range stages {
		if s.baseline != "" {
			res.Baseline = s.baseline
		}
	}
	log("%s, %s: in full swing; snag find --for %v runs beside it", res.Incident, v, o.For)
	found := time.Now()
	for i, inc := range incs {
		if inc.VM != nil && inc.VM.Paused && v == Sick {
			stages[i].pauseAfter(o.For / 3)
		}
		stages[i].breakAfter(time.Duration(breaksAt * float64(o.For)))
	}
	before := readCPUTime()
	res.Answer, err = stages.findCulprits(o)
	res.Stolen = readCPUTime().since(before)
	for _, s := range stages {
		err = errors.Join(err, s.Err()) // a pause that could not be asked for
	}
	res.Seconds, res.FindSeconds = time.Since(begin).Seconds(), time.Since(found).Seconds()
	if err != nil {
		return res, err
	}
	if res.Namespaces, err = stages.namespaces(); err != nil {
		return res, err
	}
	if o.IgnoreElsewhere {
		res.Answer.DropElsewhere(res.Namespaces)
	}
	res.Answer.DropStolen(res.Stolen, wants)
	res.Culprits = res.Answer.Culprits()
	res.Outcome, res.Why, err = ScoreTogether(wants, res.Answer)
	if err != nil {
		return res, err
	}
	if o.Judged != nil {
		o.Judged(res)
	}
	if o.Keep {
		log("kept for at most %v: namespaces %s-*, files in %s; Ctrl-C ends it", MaxLife, stages[0].id, stages[0].dir)
		select {
		case <-ctx.Done():
		case <-time.After(MaxLife - time.Since(begin)):
		}
	}
	return res, nil
}

// Start starts an incident on the stage and returns once it is in full swing.
func (s *Stage) Start(inc Incident, v Variant) error {
	if err := inc.Start(s, v); err != nil {
		return err
	}
	if err := s.Err(); err != nil {
		return err
	}
	return s.dead()
}

// stages are those of the incidents that are on the machine at the same time.
type stages []*Stage

// start starts each stage's incident and returns once all are in full swing. Those that
// mostly wait do so at the same time.
func (all stages) start(incs []Incident, v Variant) error {
	together := !slices.ContainsFunc(incs, func(inc Incident) bool { return !inc.Apart })
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, s := range all {
		wg.Go(func() {
			s.opts.Log("%s, %s: starting", incs[i].Name, v)
			errs[i] = s.Start(incs[i], v)
		})
		if !together {
			if wg.Wait(); errs[i] != nil {
				return errs[i]
			}
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// NameOf is how incidents that are made at the same time are called: their names
// joined by "+".
func NameOf(incs []Incident) string {
	var names []string
	for _, i := range incs {
		names = append(names, i.Name)
	}
	return strings.Join(names, "+")
}

func (all stages) close() error {
	var errs []error
	for i := len(all) - 1; i >= 0; i-- {
		errs = append(errs, all[i].Close())
	}
	return errors.Join(errs...)
}

func (all stages) namespaces() (map[uint64]bool, error) {
	out := map[uint64]bool{}
	for _, s := range all {
		here, err := s.namespaces()
		if err != nil {
			return nil, err
		}
		maps.Copy(out, here)
	}
	return out, nil
}

// FindOn runs snag find on the whole machine beside what is on these stages, and returns
// its verdict.
func FindOn(all []*Stage, o RunOptions) (Answer, error) { return stages(all).findCulprits(o) }

// NamespacesOf are the inodes of the stages' network namespaces and of the one that the
// lab was started in.
func NamespacesOf(all []*Stage) (map[uint64]bool, error) { return stages(all).namespaces() }

// findAt is the namespace in which snag find is started, "" for the lab's own.
func (all stages) findAt() (at string) {
	for _, each := range all {
		if each.findAt != "" {
			at = each.findAt
		}
	}
	return at
}

func (all stages) findCulprits(o RunOptions) (Answer, error) {
	s := all[0]
	how := []Option{MayEnd()}
	for _, each := range all {
		how = append(how, each.find...)
	}
	answer := filepath.Join(s.dir, "answer.json")
	argv := []string{o.SnagPath, "find", "--for", o.For.String(), "--json", "--out", o.Out}
	for _, each := range all {
		if each.baseline != "" {
			argv = append(argv, "--baseline", each.baseline)
		}
	}
	at := all.findAt()
	for _, each := range all {
		for _, url := range each.streams {
			argv = append(argv, "--stream", url)
		}
		if each.layers != "" {
			argv = append(argv, "--layers", each.layers)
		}
	}
	p := s.Run(at, "find", argv, append(how, stdoutTo(answer))...)
	watches := all.watch(at, o)
	if err := s.Err(); err != nil {
		return Answer{}, err
	}
	select {
	case <-p.done:
	case <-s.ctx.Done():
		return Answer{}, s.ctx.Err()
	case <-time.After(o.For + 2*time.Minute):
		return Answer{}, fmt.Errorf("lab: snag find --for %v has not ended 2 minutes after it should", o.For)
	}
	if err := s.ended(watches, o.For+watchOn+time.Minute); err != nil {
		return Answer{}, err
	}
	// What ended while it was looked at makes the run worthless.
	for _, each := range all {
		if dead := each.dead(); dead != nil {
			return Answer{}, fmt.Errorf("lab: while snag find ran: %w", dead)
		}
	}
	if code := p.state.ExitCode(); code != 0 && code != 10 && code != 11 {
		return Answer{}, fmt.Errorf("lab: %s: %v: %s", strings.Join(argv, " "), p.state, p.tail())
	}
	raw, err := os.ReadFile(answer)
	if err != nil {
		return Answer{}, fmt.Errorf("lab: read the verdict: %w", err)
	}
	return ParseAnswer(raw)
}
