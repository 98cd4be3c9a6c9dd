package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/load"
	"snag/load/elimination"
	"snag/load/trial"
)

func (f *eliminateFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.addRequest(cmd)
	flags.IntVar(&f.request.Size, "size", 64, "tcp and udp: bytes of a message")
	flags.StringVar(&f.rate, "rate", "1k", "the most requests per second that are sent, at the last experiment")
	flags.DurationVar(&f.slow, "slow", 20*time.Millisecond, "an answer that takes longer is slow")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Second, "how long a request may be open")
	flags.DurationVar(&f.within, "within", time.Minute, "how long all experiments together may take")
	flags.BoolVar(&f.all, "all", false, "go on after the first experiment that finds a suspect")
	flags.BoolVar(&f.here, "here", false, "this is the server itself: all experiments but those of the way there")
	flags.StringVar(&f.server, "server", "", "a file with the output of --here --json from the server; - is the standard input")
	flags.BoolVar(&f.yes, "yes", false, "send more than 1,000 requests per second to another host")
	flags.StringVarP(&f.out, "out", "o", "", "also keep the experiments as a recording: in this file if its name ends in .snag, else in this folder (snag judge, snag show)")
	flags.BoolVar(&f.json, "json", false, "as JSON (docs/eliminate.md)")
}

// leastHigh is the lowest rate that can be called high.
const leastHigh = 100

func (f *eliminateFlags) plan(ctx context.Context, cmd *cobra.Command, target string) (p trial.Plan, err error) {
	from, to, err := load.ParseRates(f.rate)
	switch {
	case err != nil:
		return p, cli.Usage("--rate %s: %v", f.rate, err)
	case from != to || to < leastHigh:
		return p, cli.Usage("--rate %s: one rate of at least %d requests per second", f.rate, leastHigh)
	case f.slow < time.Millisecond:
		return p, cli.Usage("--slow %s: at least 1ms", f.slow)
	case f.timeout < f.slow || f.timeout > 10*time.Second:
		return p, cli.Usage("--timeout %s: from --slow (%s) to 10s", f.timeout, f.slow)
	case f.within < 5*time.Second:
		return p, cli.Usage("--within %s: at least 5s", f.within)
	case f.here && f.server != "":
		return p, cli.Usage("--server is for the client, --here for the server: give one of them")
	}
	if err := folderOf("out", f.out); err != nil {
		return p, err
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
		return p, mayAsk(ctx, asked{plan: check, to: to}, f.consent(cmd))
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
