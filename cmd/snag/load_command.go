package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/load"
	"snag/report/loaded"
)

// mostUnasked is how many requests a second are sent to another host without --yes.
const mostUnasked = 1000

type loadFlags struct {
	rate              string
	conns             int
	window, timeout   time.Duration
	size, reply       int
	split             []int
	noDelay, quickAck bool
	options           load.SocketOptions
	hdr               string
	json, yes         bool
}

func loadCommand() *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{
		Use:   "load TARGET",
		Short: "Ask a service at a rate and measure how long it answers",
		Long: `Ask a service at a rate and measure how long its answers take: from when each
request was due and from when it was sent. A service that stands still does not hide
the requests that would have been sent meanwhile. How late snag itself was is measured
too; where that was too much, the figures are called not the service's.

Targets: tcp://HOST:PORT and udp://HOST:PORT (a message of --size bytes, an answer of
--reply bytes), http://HOST/PATH (HTTP/1.1).

Exit codes: 0 measured, 11 measured and not the service's figures, 1 failed.`,
		Example: `  snag load http://127.0.0.1:8080/ --rate 1k
  snag load tcp://127.0.0.1:9000 --rate 500 --size 100 --split 20,80 --nodelay=false`,
		Args: cli.UsageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return runLoad(cmd, f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.rate, "rate", "100", "requests a second over all connections (1k is 1,000); max: one open request on each connection, again and again")
	flags.IntVar(&f.conns, "conns", 10, "connections")
	flags.DurationVar(&f.window, "for", 10*time.Second, "how long")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Second, "how long a request may be open")
	flags.IntVar(&f.size, "size", 64, "tcp and udp: bytes of a message")
	flags.IntVar(&f.reply, "reply", -1, "tcp and udp: bytes of an answer; 0: none is awaited (default: as --size)")
	flags.IntSliceVar(&f.split, "split", nil, "bytes of each write of a message, as 20,80 (default: one write)")
	flags.BoolVar(&f.noDelay, "nodelay", true, "TCP_NODELAY; false: Nagle's algorithm holds back a write while another is not acknowledged")
	flags.BoolVar(&f.quickAck, "quickack", false, "TCP_QUICKACK: acknowledge at once (default: as the kernel has it)")
	flags.IntVar(&f.options.SendBuffer, "sndbuf", 0, "SO_SNDBUF, bytes (default: as the kernel has it)")
	flags.IntVar(&f.options.ReceiveBuffer, "rcvbuf", 0, "SO_RCVBUF, bytes (default: as the kernel has it)")
	flags.StringVar(&f.options.Congestion, "congestion", "", "TCP_CONGESTION, as cubic (default: as the kernel has it)")
	flags.IntVar(&f.options.BusyPoll, "busy-poll", 0, "SO_BUSY_POLL, µs")
	flags.IntVar(&f.options.CPU, "cpu", -1, "keep snag's thread on this CPU (default: any)")
	flags.StringVar(&f.hdr, "hdr", "", "also write the times since each request was due to this file, as an HdrHistogram log")
	flags.BoolVar(&f.json, "json", false, "as JSON (docs/load.md)")
	flags.BoolVar(&f.yes, "yes", false, "send more than 1,000 requests a second to another host")
	return cmd
}

// plan is what the flags ask for.
func (f loadFlags) plan(cmd *cobra.Command, target string) (load.Plan, error) {
	rate, err := requestRate(f.rate)
	if err != nil {
		return load.Plan{}, cli.Usage("--rate %s: %v", f.rate, err)
	}
	if f.reply < 0 {
		f.reply = f.size
	}
	to, err := load.ParseTarget(target, load.Sizes{Size: f.size, Reply: f.reply, Split: f.split})
	if err != nil {
		return load.Plan{}, cli.Usage("%v", err)
	}
	f.options.NoDelay = &f.noDelay
	if cmd.Flags().Changed("quickack") {
		f.options.QuickAck = &f.quickAck
	}
	p := load.Plan{Target: to, Rate: rate, Conns: f.conns, For: f.window, Warm: min(time.Second, f.window/10), Timeout: f.timeout, Options: f.options}
	if err := p.Check(); err != nil {
		return p, cli.Usage("%v", err)
	}
	return p, nil
}

// requestRate reads 100, 1.5k, 2M and max, which is 0.
func requestRate(text string) (float64, error) {
	if text == "max" {
		return 0, nil
	}
	number, times := text, 1.0
	for suffix, n := range map[string]float64{"k": 1e3, "M": 1e6} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			number, times = rest, n
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || v*times > 1e7 {
		return 0, errors.New("a number of requests a second, as 100 or 1.5k, or max")
	}
	return v * times, nil
}

func runLoad(cmd *cobra.Command, f loadFlags, target string) error {
	p, err := f.plan(cmd, target)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	here, err := p.Target.Here(ctx)
	if err != nil {
		return fmt.Errorf("load %s: %w", p.Target.Name, err)
	}
	if !here && !f.yes && (p.Rate == 0 || p.Rate > mostUnasked) {
		return cli.Usage("%s is not on this host: --yes to send it more than %d requests a second", p.Target.Name, mostUnasked)
	}
	var out loaded.Loaded
	if out.Null, err = load.Calibrate(ctx, p); err != nil {
		return fmt.Errorf("measure a server of our own first: %w", err)
	}
	if out.Result, err = load.Run(ctx, p); err != nil {
		return err
	}
	if f.hdr != "" {
		if err := writeHistogram(f.hdr, out.Result); err != nil {
			return err
		}
	}
	if f.json {
		err = out.JSON(cmd.OutOrStdout())
	} else {
		out.Text(cmd.OutOrStdout())
	}
	if err == nil && out.Result.Honest() != "" {
		return &cli.Exit{Code: cli.ExitCantTell}
	}
	return err
}

// writeHistogram writes the log that HdrHistogram's own tools read.
func writeHistogram(path string, r *load.Result) error {
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	defer w.Close()
	log := hdrhistogram.NewHistogramLogWriter(w)
	if err := errors.Join(log.OutputComment("latencies in nanoseconds since each request was due, of "+r.Plan.Target.Name), log.OutputLogFormatVersion(), log.OutputLegend(), log.OutputIntervalHistogram(r.FromDue)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return w.Close()
}
