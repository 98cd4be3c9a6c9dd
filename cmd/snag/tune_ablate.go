package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/shown"
	"snag/internal/units"
	"snag/internal/words"
	"snag/remedies/ablate"
	"snag/remedies/ablate/candidate"
	"snag/remedies/ablate/figure"
	"snag/remedies/apply"
	"snag/remedies/knob"
	"snag/remedies/plan"
	"snag/remedies/sysctld"
	"snag/remedies/verify"
)

type ablateFlags struct {
	load, measure string
	length        time.Duration // of a measurement that is not the load's own
	limit         time.Duration // of one run of the load
	settle        time.Duration
	rounds        int
	within        time.Duration
	smallest      string
	netns         string
	defaults      []string
	seed          uint64
	out           string
	json, quiet   bool
	smallestRatio float64
	meter         *symptomMeter
	rhythm        verify.Rhythm // of the trouble in the plan's recording; zero: not known
}

func tuneAblate(t *tuneFlags) *cobra.Command {
	var f ablateFlags
	cmd := &cobra.Command{
		Use:   "ablate PLAN|FOLDER|FILE",
		Short: "Find out which settings of a plan, or of inherited sysctls, do something",
		Long: `Turns settings off and on under a load, one at a time and in groups, in random order,
and says of each what it does: with an interval, corrected for their number. A plan's
settings go between its values now and then; those of a folder of sysctls (sysctl.d,
*.conf) or of one such file between what is written there and the kernel's default.

All values are on disk before the first is touched. At the end, at Ctrl-C, at kill -9
and when the time is over, each setting is what it was before.

What is measured: time (the load's wall time), exit (its failing), a number that it
prints (wrk, wrk:99%, iperf3, ab, or higher:REGEXP, lower:REGEXP with one group), a
counter of the kernel (counter:UdpRcvbufErrors; rate:TcpInSegs where more is better)
or a symptom of snag's (symptom:datagrams-lost). The default is time with --load, and
what the plan is verified by without.

Exit codes: 0 each setting is decided or the time is over, 1 failed, 2 usage.`,
		Example: `  sudo snag tune ablate plan.yaml --load 'curl -so /dev/null http://10.0.0.2/big'
  sudo snag tune ablate /etc/sysctl.d --load 'wrk -d 5s http://10.0.0.2/' --measure wrk
  sudo snag tune ablate /etc/sysctl.d/99-blog.conf --measure counter:UdpRcvbufErrors --out kept.yaml`,
		Args: cli.UsageArgs(cobra.ExactArgs(1), "what to try: the file of a plan, a folder such as /etc/sysctl.d, or a file of sysctls"),
		RunE: func(cmd *cobra.Command, args []string) error { return ablateRun(cmd, t, &f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.load, "load", "", "the command that makes the load, run again and again; no shell reads it (default: the live traffic)")
	flags.StringVar(&f.measure, "measure", "", "what is measured: see above")
	flags.DurationVar(&f.length, "for", 5*time.Second, "how long a counter or a symptom is measured, each time; longer by default where a plan's trouble comes more seldom, up to 2m")
	flags.DurationVar(&f.limit, "limit", time.Minute, "end a run of the load that takes longer: it has failed")
	flags.DurationVar(&f.settle, "settle", 0, "wait so long after settings were switched")
	flags.IntVar(&f.rounds, "rounds", 30, "the most that each comparison is measured")
	flags.DurationVar(&f.within, "within", 30*time.Minute, "end after this time with what is known; all is put back at its end, whatever comes")
	flags.StringVar(&f.smallest, "smallest", "5%", "the smallest effect of interest")
	flags.StringVar(&f.netns, "netns", "", "run the load, read counters and set inherited sysctls in this network namespace, by name")
	flags.StringArrayVar(&f.defaults, "default", nil, "NAME=VALUE: what an inherited sysctl is without the file; may be given more than once")
	flags.Uint64Var(&f.seed, "seed", 0, "the seed of the random order (default: another each time)")
	flags.StringVarP(&f.out, "out", "o", "", "write a plan of only those that do something to this file")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return cmd
}

func (f *ablateFlags) check() (err error) {
	switch {
	case f.rounds < 4 || f.rounds > 1000:
		return cli.Usage("--rounds %d: from 4 to 1000", f.rounds)
	case f.within < 30*time.Second || f.within > 24*time.Hour:
		return cli.Usage("--within %s: from 30s to 24h", f.within)
	case f.length < 100*time.Millisecond || f.length > 10*time.Minute:
		return cli.Usage("--for %s: from 100ms to 10m", f.length)
	case f.limit < time.Second || f.limit > time.Hour:
		return cli.Usage("--limit %s: from 1s to 1h", f.limit)
	case f.settle < 0 || f.settle > time.Minute:
		return cli.Usage("--settle %s: up to 1m", f.settle)
	}
	f.smallestRatio, err = parseShare(f.smallest)
	if err != nil || f.smallestRatio < 0.001 || f.smallestRatio > 1 {
		return cli.Usage("--smallest %s: from 0.1%% to 100%%", f.smallest)
	}
	if strings.ContainsAny(f.netns, "/ ") || f.netns == "." || f.netns == ".." {
		return cli.Usage("--netns %s: a name, as ip netns list shows it", f.netns)
	}
	return folderOf("out", f.out)
}

func ablateRun(cmd *cobra.Command, t *tuneFlags, f *ablateFlags, path string) error {
	if err := f.check(); err != nil {
		return err
	}
	p, err := planAt(path)
	if err != nil {
		return err
	}
	f.keepsTime(p, cmd.Flags().Changed("for"))
	bench, err := f.bench(p)
	if err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return errors.New("snag tune ablate: it changes settings of the kernel: run it as root")
	}
	s, err := t.real()
	if err != nil {
		return err
	}
	all, left, err := f.candidates(s, p, path)
	if err != nil {
		return err
	}
	a := &ablation{flags: f, source: path, plan: p, bench: bench, all: all, left: left, factors: candidate.Factors(all)}
	if len(all) == 0 {
		a.settingsLeft(cmd.OutOrStdout())
		return fmt.Errorf("%s: nothing of it can be tested", path)
	}
	if err := bench.Check(); err != nil {
		return fmt.Errorf("--measure: %w", err)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	signal.Ignore(syscall.SIGPIPE)
	failed := a.study(ctx, s)
	if a.result != nil && a.result.Runs > 0 {
		if err := a.show(cmd.OutOrStdout()); failed == nil {
			failed = err
		}
	}
	return failed
}

// longestRun is how long a run measures at most if it was not asked to.
const longestRun = 2 * time.Minute

// keepsTime has each run measure at least from one onset of the plan's trouble to the
// next, where its recording reports that: shorter runs hit or miss it, whatever is set.
func (f *ablateFlags) keepsTime(p *plan.Plan, asked bool) {
	if p == nil || p.For.Recording == "" {
		return
	}
	base, err := baselineOf(p)
	if err != nil {
		return // the study needs no recording
	}
	f.rhythm = base.rhythm
	if every := time.Duration(math.Ceil(f.rhythm.Every)) * time.Second; !asked && every <= longestRun {
		f.length = max(f.length, every)
	}
}

// planAt reads a plan; nil is of a folder or file of sysctls.
func planAt(path string) (*plan.Plan, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
	}
	if st.IsDir() || filepath.Ext(path) == ".conf" {
		return nil, nil
	}
	return plan.ReadFile(path)
}

// bench is what is measured, and how.
func (f *ablateFlags) bench(p *plan.Plan) (figure.Bench, error) {
	f.meter = newSymptomMeter(p, f.netns)
	b := figure.Bench{For: f.length, Netns: f.netns, Symptom: f.meter.measure}
	if f.load != "" {
		w, err := words.Command(f.load)
		if err != nil {
			return b, cli.Usage("--load: %v", err)
		}
		b.Load = &figure.Load{Words: w, Netns: f.netns, Limit: f.limit}
	}
	text := f.measure
	switch {
	case text != "":
	case b.Load != nil:
		text = "time"
	case p != nil && p.Verify.Symptom != "":
		text = "symptom:" + p.Verify.Symptom
	default:
		return b, cli.Usage("give --load, or say what of the live traffic is to be measured with --measure")
	}
	fig, err := figure.Parse(text)
	if err != nil {
		return b, cli.Usage("--measure: %v", err)
	}
	if b.Load == nil && fig.Kind != figure.Counter && fig.Kind != figure.Symptom {
		return b, cli.Usage("--measure %s is a figure of the load: give its command with --load", text)
	}
	b.Figure = fig
	return b, nil
}

func (f *ablateFlags) candidates(s *apply.Store, p *plan.Plan, path string) ([]candidate.Candidate, []candidate.Left, error) {
	w := candidate.Where{Host: s.Host, Kinds: s.Kinds, Netns: f.netns, Live: f.load == "", Triable: s.Triable, Defaults: map[string]string{}}
	for _, d := range f.defaults {
		name, value, ok := strings.Cut(d, "=")
		if !ok {
			return nil, nil, cli.Usage("--default %s: as NAME=VALUE", d)
		}
		w.Defaults[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	if p != nil {
		if err := p.Valid(knob.ForPlan()); err != nil {
			return nil, nil, fmt.Errorf("the plan %s is not valid: %w", path, err)
		}
		all, left := candidate.FromPlan(p, w)
		return all, left, nil
	}
	settings, bad, err := sysctld.Read(s.Host.Proc, path)
	if err != nil {
		return nil, nil, err
	}
	all, left := candidate.FromFiles(settings, bad, w)
	return all, left, nil
}

// ablation is one study of this host.
type ablation struct {
	flags   *ablateFlags
	source  string
	plan    *plan.Plan
	bench   figure.Bench
	all     []candidate.Candidate
	left    []candidate.Left
	factors [][]int // candidates by what is switched together
	result  *ablate.Result
	took    time.Duration
	back    string // how the settings came back
}

// reserve is left at the end of the time to put all back before the guard does.
const reserve = 5 * time.Second

// study makes it, and puts all back whatever comes of it.
func (a *ablation) study(ctx context.Context, s *apply.Store) error {
	var switches []apply.Switch
	for _, c := range a.all {
		switches = append(switches, c.Switch)
	}
	trial, err := s.Try(switches, a.flags.within)
	if err != nil {
		return err
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, a.flags.within-reserve)
	defer cancel()
	progress := newProgress(os.Stderr, a.flags.quiet || a.flags.json)
	progress.say(fmt.Sprintf("%d settings, trial %s; Ctrl-C ends it and puts all back", len(a.all), trial.ID()))
	settled := 0
	o := ablate.Options{
		Settings: len(a.factors), Higher: a.bench.Figure.Higher, Grain: a.bench.Figure.Grain(a.flags.length.Seconds()), Ratio: a.bench.Figure.Ratio(),
		Smallest: a.flags.smallestRatio, Rounds: a.flags.rounds,
		Tell: func(p ablate.Progress) {
			text := fmt.Sprintf("round %d, %d runs: %d of %d settings are done", p.Round, p.Runs, p.Settled, len(a.factors))
			left := time.Until(began.Add(a.flags.within - reserve)).Round(time.Second)
			if progress.line(fmt.Sprintf("%s; %s more at most (Ctrl-C ends it)", text, units.Seconds(left))); p.Settled > settled && !progress.terminal {
				progress.say(text)
			}
			settled = max(settled, p.Settled)
		},
	}
	if a.flags.seed != 0 {
		o.Rand = rand.New(rand.NewPCG(a.flags.seed, 0))
	}
	res, failed := ablate.Run(limited, o, func(ctx context.Context, on []bool) (float64, error) { return a.run(ctx, trial, on) })
	progress.done()
	a.result, a.took = res, time.Since(began)
	if a.bench.Figure.Kind == figure.Symptom {
		a.bench.Figure.Unit = verify.LevelUnit(a.bench.Figure.Name, a.flags.meter.unit)
	}
	why := "the study is done"
	switch {
	case failed != nil:
		why = "the study failed"
	case ctx.Err() != nil:
		why = "the study was stopped"
	case res.Cut:
		why = "the study's time was over"
	}
	_, err = trial.End(why)
	if err == nil {
		a.back = fmt.Sprintf("%d settings are what they were before: looked at, one by one", len(a.all))
	} else {
		err = fmt.Errorf("NOT ALL settings are what they were before: %w (snag tune status shows them)", err)
	}
	return errors.Join(failed, err)
}

// run is one measurement.
func (a *ablation) run(ctx context.Context, trial *apply.Trial, on []bool) (float64, error) {
	is := map[string]bool{}
	for i, factor := range a.factors {
		for _, c := range factor {
			is[a.all[c].Switch.ID] = on[i]
		}
	}
	if err := trial.Set(func(id string) bool { return is[id] }); err != nil {
		return 0, err
	}
	if a.flags.settle > 0 {
		select {
		case <-time.After(a.flags.settle):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return a.bench.Measure(ctx)
}

func (a *ablation) show(out io.Writer) error {
	if a.flags.out != "" {
		p := a.pruned()
		text, err := p.Text()
		if err == nil {
			err = private.Write(a.flags.out, text)
		}
		if err != nil {
			return fmt.Errorf("write the plan %s: %w", a.flags.out, err)
		}
	}
	if a.flags.json {
		e := json.NewEncoder(shown.JSON(out))
		e.SetIndent("", "  ")
		return e.Encode(a.document())
	}
	a.write(out)
	return nil
}
