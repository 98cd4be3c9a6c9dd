package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"snag/fleet/remotewrite"
	"snag/internal/cli"
	"snag/internal/shown"
	"snag/internal/units"
	"snag/probes/streams/watch"
	"snag/recorder"
	"snag/recorder/rule"
)

type recordFlags struct {
	ring    string
	keep    time.Duration
	size    string
	memory  string
	quiet   bool
	command string
	webhook string
	secret  string
	listen  string
	when    []string
	budget  string
	own     bool // the namespace that it runs in alone
	streams streamFlags
	otlp    otlpFlags
	write   writeFlags
	influx  writeFlags
	sending incidentFlags
}

func recordCommand() *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Record this host all the time, so that find can look back",
		Long: `Record continuously what snag find's cheap probes see, in a ring on the disk: the last
hour at 1 s, older data at 10 s and 60 s, within --keep and --size. snag find --at,
--from and --last judge a time in the past. Nothing on the host is changed, and no
payload is kept.

When clients or streams seem to be affected, the recording is judged. snag incidents lists
the results; --on-incident, --webhook and --otlp report each incident when it begins and ends.
--stream also reads a live stream as a viewer would, and judges at once what a viewer
would notice.

It runs until SIGTERM or Ctrl-C, in the idle I/O class and with low CPU priority. On a
full disk it pauses, reports it, and continues when there is space.`,
		Example: `  sudo snag record
  sudo snag record --keep 24h --size 2GB
  sudo snag record --stream rtmp://127.0.0.1/live/cam1
  sudo snag record --list cams.txt --picture
  sudo snag find --at 14:17:28`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return record(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.ring, "ring", recorder.Default, "the folder of the ring")
	flags.DurationVar(&f.keep, "keep", 24*time.Hour, "how long recordings are kept")
	flags.StringVar(&f.size, "size", "2GB", "disk space for the ring and its incidents; the oldest are deleted first")
	flags.StringVar(&f.memory, "memory", "200MB", "exit if snag needs more memory than this")
	flags.BoolVar(&f.quiet, "no-incidents", false, "only record, judge nothing")
	flags.StringVar(&f.command, "on-incident", "", "run this program when an incident begins and ends, with JSON on its standard input; words are split at spaces, without a shell")
	flags.StringVar(&f.webhook, "webhook", "", "POST the same JSON to this URL")
	flags.StringVar(&f.secret, "webhook-secret", "", "sign webhook calls with the secret in this file (standardwebhooks.com)")
	flags.StringVar(&f.listen, "listen", "", "serve Prometheus metrics of the recorder and of what this host answers and asks at this address, as 127.0.0.1:9848")
	flags.StringVar(&f.budget, "budget", "2%", "what a closer look at suspects may take of the machine's CPU time, for 10 s when clients or streams seem to be affected; 0: no closer look")
	flags.BoolVar(&f.own, "own-netns", false, ownNetnsHelp)
	flags.StringArrayVar(&f.when, "when", nil, "also judge, and keep as an incident, when this PromQL expression over the recorded series holds, as 'rate(node_netstat_TcpExt_ListenOverflows[10s]) > 1'; may be given more than once")
	f.streams.register(cmd)
	f.otlp.register(cmd, "a log record when an incident begins and ends, and metrics every 30 s,")
	f.write.register(cmd, remotewrite.RemoteWrite, "this Prometheus remote-write URL, as http://127.0.0.1:9090/api/v1/write")
	f.influx.register(cmd, remotewrite.Influx, "this URL that takes InfluxDB's line protocol, as http://127.0.0.1:8086/write?db=snag or 'http://127.0.0.1:8086/api/v2/write?org=ORG&bucket=BUCKET'")
	flags.StringVar(&f.influx.token, "influx-token", "", "a file with the token of InfluxDB, which is sent as Authorization: Token")
	f.sending.register(cmd)
	registerShared(cmd)
	return cmd
}

func record(ctx context.Context, f *recordFlags) error {
	size, err := units.ParseBytes(f.size)
	switch {
	case err != nil || size < 16<<20:
		return cli.Usage("--size %s: a number and MB or GB, from 16MB on", f.size)
	case f.keep < 10*time.Minute:
		return cli.Usage("--keep %s: from 10m on", f.keep)
	}
	memory, err := units.ParseBytes(f.memory)
	if err != nil || memory < 32<<20 {
		return cli.Usage("--memory %s: a number and MB or GB, from 32MB on", f.memory)
	}
	rules, err := f.rules()
	if err != nil {
		return err
	}
	share, err := parseShare(f.budget)
	if err != nil {
		return cli.Usage("--budget %s: %v", f.budget, err)
	}
	if len(rules) > 0 && f.quiet {
		return cli.Usage("--when: not with --no-incidents")
	}
	note := func(text string) { fmt.Fprintf(shown.To(os.Stderr), "snag: %s\n", text) }
	viewer, err := newViewing(f.streams, note)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, enders()...)
	defer stop()
	yieldToOthers()
	useOneCPU()
	stayLean(ctx)
	tell, err := f.reporter()
	if err != nil {
		return err
	}
	tell.note = note
	note(fmt.Sprintf("recording to %s: %s are kept, up to %s", f.ring, f.keep, f.size))
	plan := recorder.Plan{
		Dir: f.ring, Limits: recorder.Limits{Keep: f.keep, Size: size}, Snag: cli.Version, Memory: memory, Note: note, Between: giveBack, Thin: thinInChild, Rules: rules, Streams: viewer.probe(), OwnNetns: f.own,
	}
	if err := f.publish(ctx, &plan, tell); err != nil {
		return err
	}
	if !f.quiet {
		plan.Judge = judgePast
		if share > 0 {
			plan.Look = lookNow(f.budget, f.own)
		}
		plan.Report = func(i recorder.Incident, what string) {
			tell.report(ctx, i, what)
			f.sending.wake()
		}
	}
	defer tell.end()
	ctx, cancel := context.WithCancel(ctx)
	var viewed sync.WaitGroup
	viewed.Go(func() { viewer.run(ctx) })
	defer viewed.Wait()
	defer f.write.start(ctx)()
	defer f.influx.start(ctx)()
	defer f.sending.start(ctx)()
	defer cancel()
	return recorder.Run(ctx, plan)
}

// rules are those of --when.
func (f *recordFlags) rules() (out []*rule.Rule, err error) {
	for _, text := range f.when {
		r, err := rule.Parse(text)
		if err != nil {
			return nil, cli.Usage("--when %q: %v", text, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func (f *recordFlags) reporter() (*reporter, error) {
	if err := f.otlp.check(); err != nil {
		return nil, err
	}
	r := &reporter{ring: f.ring, now: time.Now, command: strings.Fields(f.command)}
	if len(r.command) > 0 {
		if _, err := exec.LookPath(r.command[0]); err != nil {
			return nil, cli.Usage("--on-incident: %v", err)
		}
	}
	if f.webhook == "" {
		if f.secret != "" {
			return nil, cli.Usage("--webhook-secret: with --webhook")
		}
		return r, nil
	}
	hook, err := watch.NewWebhook(f.webhook, 10*time.Second)
	if err != nil {
		return nil, cli.Usage("--webhook: %v", err)
	}
	if f.secret != "" {
		if hook.Secret, err = watch.ReadSecret(f.secret); err != nil {
			return nil, err
		}
	}
	r.webhook = &hook
	return r, nil
}
