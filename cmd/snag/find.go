package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/shown"
	"snag/probes"
	"snag/probes/probe"
	"snag/probes/streams"
	"snag/probes/streams/watch"
	"snag/recording"
)

type findFlags struct {
	window   time.Duration
	target   recording.Target
	symptoms []string
	since    string
	streams  []string
	layers   string
	listed   listedFlags
	out      string
	quiet    bool
	budget   string
	share    float64 // of the machine, from budget
	stops    bool    // of Go programs
	own      bool    // the namespace that it runs in alone
	load     string
	tries    string // the target of --eliminate, with its flags
	past     pastFlags
	fleet    fleetFlags
	show     showFlags
}

const ownNetnsHelp = "leave out the processes and the connections of other network namespaces, as if this one were a host of its own"

func findCommand() *cobra.Command {
	f := findFlags{show: showFlags{otlp: &otlpFlags{}}}
	cmd := &cobra.Command{
		Use:   "find",
		Short: "Record this host for a while, judge it, show the verdict",
		Long: `Record this host, judge what was seen, show the verdict. Nothing on the host is
changed, and no payload is kept. Ctrl-C, SIGTERM, SIGHUP and SIGQUIT end the recording
early and still judge; a second one ends snag at once.

Without a target it records the whole machine, with every network namespace. With one,
it records that process (and its children), unit, listener or namespace, and what the
machine does to it. The verdict on the target comes first; what was found elsewhere has
a line below. Without root it records what it can, and reports what it could not see.

Exit codes: 0 nothing wrong, 10 a culprit found, 11 can't tell (something is wrong and
no culprit was proved, too little was seen, or answers are slow), 1 failed,
2 usage.`,
		Example: `  sudo snag find
  sudo snag find --for 10s --port 1935
  sudo snag find --unit nginx --symptom 'freeze 14:17:28 stream X' --json
  sudo snag find --discover nginx:http://127.0.0.1:8080/stat
  sudo snag find --port 8080 --load 'http://127.0.0.1:8080/ --rate 200' --slo 50ms
  sudo snag find --port 8080 --for 1m --eliminate http://127.0.0.1:8080/orders
  sudo snag find --symptom 'slow answers on port 8080' --since 5m
  sudo snag find --at 14:17:28
  snag find --fleet http://prometheus:9090 --hosts 'role="edge"'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return find(cmd, &f) },
	}
	flags := cmd.Flags()
	flags.DurationVar(&f.window, "for", 30*time.Second, "how long to record, as 10s or 2m")
	addTarget(cmd, &f.target, "look at")
	flags.StringArrayVar(&f.symptoms, "symptom", nil, "what you saw, in your words; a time of day, a port, a process or an address help; may be given more than once")
	flags.StringVar(&f.since, "since", "", "when it began: a time (14:17:28, 2026-11-21T14:17:28Z) or how long ago (5m); what began later is not its cause")
	flags.StringArrayVar(&f.streams, "stream", nil, "read this live stream meanwhile, as a viewer would: its freezes are the symptom; may be given more than once")
	flags.StringVar(&f.layers, "layers", "", "read one stream at several places, ingest=URL,origin=URL,edge=URL, and name the first that hurts it; with {host}, {app} and {stream} in the URLs, each of --discover")
	f.listed.register(cmd)
	flags.StringVar(&f.load, "load", "", "send requests to a service meanwhile: a target of snag load with its flags, as 'http://127.0.0.1:8080/ --rate 1k'; their waiting is judged together with the host (docs/load.md)")
	flags.StringVar(&f.tries, "eliminate", "", "run the experiments of snag eliminate on a service meanwhile: a target with its flags, as 'http://127.0.0.1:8080/orders'; what they rule out is judged together with the host (docs/eliminate.md)")
	flags.StringVarP(&f.out, "out", "o", "", "keep the recording in this folder (default: a new one under the temporary directory)")
	flags.StringVar(&f.budget, "budget", "2%", "what a closer look at suspects may take of the machine's CPU time; 0: no closer look")
	flags.BoolVar(&f.stops, "go-runtime", false, "time the stops of the Go programs that it looks at closer: puts a breakpoint where their runtime stops the world")
	flags.BoolVar(&f.own, "own-netns", false, ownNetnsHelp)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, only the verdict")
	f.past.register(cmd)
	f.fleet.register(cmd)
	f.show.register(cmd)
	f.show.otlp.register(cmd, "the verdict as a log record")
	return cmd
}

func (f *findFlags) check(cmd *cobra.Command) error {
	if f.window < time.Second || f.window > time.Hour {
		return cli.Usage("--for %s: from 1s to 1h", f.window)
	}
	if given(cmd, targets) > 1 {
		return cli.Usage("one of --pid, --unit, --port, --container, --pod, --netns: each is a target, and there is one")
	}
	if err := checkTarget(cmd, f.target); err != nil {
		return err
	}
	if err := checkSymptoms(f.symptoms); err != nil {
		return err
	}
	if cmd.Flags().Changed("load") && f.load == "" {
		return cli.Usage("--load: give a target, such as 'http://127.0.0.1:8080/ --rate 1k'")
	}
	if err := f.checkTries(cmd); err != nil {
		return err
	}
	if err := f.listed.check(cmd, f.layers); err != nil {
		return err
	}
	if _, _, err := streams.Entries(f.streams, f.layersOfOne()); err != nil {
		return cli.Usage("%v", err)
	}
	if err := f.past.check(cmd); err != nil {
		return err
	}
	if err := f.show.check(); err != nil {
		return err
	}
	f.target.Objective = f.show.slo.Seconds()
	if f.show.baseline != "" { // it must not turn out wrong after the recording
		if _, err := os.Stat(f.show.baseline); err != nil {
			return cli.Usage("--baseline: %v", err)
		}
	}
	share, err := parseShare(f.budget)
	if err != nil {
		return cli.Usage("--budget %s: %v", f.budget, err)
	}
	f.share = share
	if _, err := f.began(time.Now()); err != nil {
		return cli.Usage("--since: %v", err)
	}
	return folderOf("html", f.show.html)
}

// began is the time that --since gives; 0 where it is not given.
func (f *findFlags) began(now time.Time) (recording.Time, error) {
	if f.since == "" {
		return 0, nil
	}
	_, offset := now.Zone()
	return recording.ParseSince(f.since, recording.Time(now.UnixNano()), offset)
}

func find(cmd *cobra.Command, f *findFlags) error {
	if f.fleet.store != "" {
		return findFleet(cmd, f)
	}
	if err := f.fleet.alone(); err != nil {
		return err
	}
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.past.asked() {
		return findPast(cmd, f)
	}
	f.sayVague()
	since, err := f.began(time.Now())
	if err != nil {
		return cli.Usage("--since: %v", err)
	}
	reading, err := f.listed.ask(cmd.Context(), f.layers, f.target.Netns, shown.To(os.Stderr))
	if err != nil {
		return err
	}
	loading, err := f.asking(cmd.Context())
	if err != nil {
		return err
	}
	dir := f.out
	if dir == "" {
		if dir, err = private.New(time.Now()); err != nil {
			return err
		}
	}
	ctx, over := untilAsked(cmd.Context(), keptIn(dir))
	defer over()
	stayLean(cmd.Context())
	began := time.Now()
	recorded, begun := f.record(ctx, dir, since, reading, loading)
	if !begun {
		if f.out == "" {
			_ = os.Remove(dir) // it is empty
		}
		return recorded // what the folder holds is another recording
	}
	if recorded != nil {
		fmt.Fprintf(shown.To(os.Stderr), "snag: %v\n", recorded)
	}
	if err := keepEarlier(f.past.ring, dir, recording.Time(began.UnixNano())); err != nil {
		fmt.Fprintf(shown.To(os.Stderr), "snag: no earlier times to compare with: %v\n", err)
	}
	f.show.own = true
	giveBack() // what the probes and the writer had
	f.show.spent = probes.ProcessCPU
	err = judgeAndShow(cmd.Context(), dir, f.show)
	if recorded != nil && err == nil {
		return &cli.Exit{Code: cli.ExitFailed} // nothing found in a recording that was cut off is not "nothing wrong"
	}
	return err
}

// sayVague reports words of --symptom that name no kind of trouble.
func (f *findFlags) sayVague() {
	if vague := vagueSymptoms(f.symptoms); vague != "" && !f.quiet {
		fmt.Fprintf(shown.To(os.Stderr), "snag: %s\n", vague)
	}
}

// layersOfOne are --layers where they are of one stream.
func (f *findFlags) layersOfOne() string {
	if watch.LayersOfEach(f.layers) {
		return ""
	}
	return f.layers
}

// record records the host into a folder, for the time and with the budget of the flags;
// begun is false where nothing was. It ends early with ctx.
func (f *findFlags) record(ctx context.Context, dir string, since recording.Time, reading, loading *probe.Probe) (err error, begun bool) {
	progress := newProgress(os.Stderr, f.quiet)
	plan := probes.Plan{
		Dir: dir, For: f.window, Target: f.target, Symptoms: f.symptoms, Since: since, Snag: cli.Version,
		Streams: f.streams, Layers: f.layersOfOne(), Reading: reading, Load: loading, Budget: f.share,
		// With a budget, mutexes are part of a closer look at a Go program.
		GoLocks: f.share > 0, GoRuntime: f.stops, OwnNetns: f.own,
		Notice: progress.notice, Tick: progress.tick, Between: giveBack,
	}
	if f.share > 0 {
		told := map[int]bool{}
		plan.Remaining = func() []probes.Look { return remaining(dir, told, progress.say) }
	}
	err = probes.Record(ctx, plan)
	progress.done()
	var nothing *probes.NotBegunError
	return err, !errors.As(err, &nothing)
}
