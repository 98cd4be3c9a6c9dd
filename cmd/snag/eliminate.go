package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/load"
	"snag/load/elimination"
	"snag/load/trial"
	"snag/report/loaded"
)

type eliminateFlags struct {
	loadFlags
	slow, within time.Duration
	all, here    bool
	server       string
}

func eliminateCommand() *cobra.Command {
	var f eliminateFlags
	cmd := &cobra.Command{
		Use:   "eliminate TARGET",
		Short: "Rule out, one experiment after the other, why a service is slow",
		Long: `Rule out, one experiment after the other, why a service is slow: this host, the name's
resolver, an address that does not answer, the path's length, its losses and its MTU, the
listen queue, TLS, new connections, Nagle's algorithm on either side, the handler, the
service, its pool of workers. A suspect is ruled out by a measurement that would have shown
it. It stops at the first experiment that finds one, unless --all is given.

It runs on a client. What is as slow on the server itself is not the path's: run it there
with --here --json, and give the output to --server on the client.

Targets and the flags of a request are those of snag load. It needs no root; only ICMP echo
may need it. Exit codes: 0 nothing slow, 10 a suspect found, 11 slow and none found,
1 failed, 2 usage.`,
		Example: `  snag eliminate http://api.example.org/orders
  snag eliminate redis://cache:6379 --data 'GET user:1' --all
  snag eliminate http://127.0.0.1:8080/orders --here --json > server.json   (on the server)
  snag eliminate http://api.example.org/orders --server server.json`,
		Args: cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runEliminate(cmd, &f, args[0]) },
	}
	flags := cmd.Flags()
	f.addRequest(cmd)
	flags.IntVar(&f.request.Size, "size", 64, "tcp and udp: bytes of a message")
	flags.StringVar(&f.rate, "rate", "1k", "the most requests a second that are sent, at the last experiment")
	flags.DurationVar(&f.slow, "slow", 20*time.Millisecond, "an answer that takes longer is slow")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Second, "how long a request may be open")
	flags.DurationVar(&f.within, "within", time.Minute, "how long all experiments together may take")
	flags.BoolVar(&f.all, "all", false, "go on after the first experiment that finds a suspect")
	flags.BoolVar(&f.here, "here", false, "this is the server itself: all experiments but those of the way there")
	flags.StringVar(&f.server, "server", "", "a file with the output of --here --json from the server; - is the standard input")
	flags.BoolVar(&f.json, "json", false, "as JSON (docs/eliminate.md)")
	flags.BoolVar(&f.yes, "yes", false, "send more than 1,000 requests a second to another host")
	return cmd
}

func runEliminate(cmd *cobra.Command, f *eliminateFlags, target string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := f.plan(ctx, cmd, target)
	if err != nil {
		return err
	}
	m, err := trial.Run(ctx, p, func(e elimination.Experiment) { fmt.Fprintf(cmd.ErrOrStderr(), "trying: %s\n", e.What) })
	if err != nil {
		return fmt.Errorf("eliminate %s: %w", p.Target.Name, err)
	}
	out := loaded.Elimination{Measures: m, Story: elimination.Tell(m)}
	_, out.Port, _ = net.SplitHostPort(p.Target.Address) // it was read before
	if err := show(cmd, f.json, out); err != nil {
		return err
	}
	switch _, told := elimination.Told(out.Story.Left); {
	case told:
		return &cli.Exit{Code: cli.ExitCulprit}
	case m.IsSlow() || !m.Did(elimination.TheRequest):
		return &cli.Exit{Code: cli.ExitCantTell}
	}
	return nil
}

// leastHigh is the lowest rate that can be called high.
const leastHigh = 100

func (f *eliminateFlags) plan(ctx context.Context, cmd *cobra.Command, target string) (p trial.Plan, err error) {
	from, to, err := load.ParseRates(f.rate)
	switch {
	case err != nil:
		return p, cli.Usage("--rate %s: %v", f.rate, err)
	case from != to || to < leastHigh:
		return p, cli.Usage("--rate %s: one rate of at least %d requests a second", f.rate, leastHigh)
	case f.slow < time.Millisecond:
		return p, cli.Usage("--slow %s: at least 1ms", f.slow)
	case f.timeout < f.slow || f.timeout > 10*time.Second:
		return p, cli.Usage("--timeout %s: from --slow (%s) to 10s", f.timeout, f.slow)
	case f.within < 5*time.Second:
		return p, cli.Usage("--within %s: at least 5s", f.within)
	case f.here && f.server != "":
		return p, cli.Usage("--server is for the client, --here for the server: give one of them")
	}
	if p.Server, err = readServer(cmd.InOrStdin(), f.server); err != nil {
		return p, err
	}
	if p.Target, err = f.target(ctx, target); err != nil {
		return p, err
	}
	f.options.NoDelay, f.options.CPU = &f.noDelay, -1
	if cmd.Flags().Changed("quickack") {
		f.options.QuickAck = &f.quickAck
	}
	p.URL, p.Options = target, f.options
	if p.Request, err = f.wholeRequest(); err != nil {
		return p, err
	}
	p.Slow, p.Timeout, p.Within, p.HighRate, p.Here, p.All = f.slow, f.timeout, f.within, to, f.here, f.all || f.here
	check := load.Plan{Target: p.Target, Rate: to, Conns: 1, For: time.Second, Timeout: f.timeout}
	if err := check.Check(); err != nil {
		return p, cli.Usage("%v", err)
	}
	if to > mostUnasked {
		return p, mayAsk(ctx, asked{plan: check, to: to}, f.yes)
	}
	return p, nil
}

// readServer reads what snag eliminate --here --json printed on the server.
func readServer(stdin io.Reader, path string) (*elimination.Measures, error) {
	if path == "" {
		return nil, nil
	}
	from, name := stdin, "the standard input"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from, name = f, path
	}
	var out struct {
		Measures *elimination.Measures `json:"measures"`
	}
	if err := json.NewDecoder(io.LimitReader(from, mostServer)).Decode(&out); err != nil || out.Measures == nil || out.Measures.Version != 1 || !out.Measures.Here {
		return nil, cli.Usage("--server: %s is not the output of snag eliminate TARGET --here --json", name)
	}
	return out.Measures, nil
}

const mostServer = 1 << 20 // bytes
