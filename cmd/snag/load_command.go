package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/load"
	"snag/report/loaded"
)

func loadCommand() *cobra.Command {
	var f loadFlags
	cmd := &cobra.Command{
		Use:   "load TARGET",
		Short: "Send requests to a service at a rate and measure how long the answers take",
		Long: `Send requests to a service at a rate and measure how long the answers take: from
when each request was due and from when it was sent. A service that pauses does not hide
the requests that were due meanwhile. How late snag itself was is measured too; where
that was too much, the figures are reported as not the service's.

With a range, --rate 10..40k or --conns 1..64, the rates are tried in random order. snag
reports whether the service is slower at low rates, and tries which socket option changes
that; where more requests bring no more answers, and how many requests it works on at a
time; and whether it stays slow after too many.

--pingpong is one connection, which is read again and again without sleep: when the answer
is there, the next request is sent. --bandwidth 50Mbit sends messages at that bit rate and
shows how much of it arrives.

Targets: tcp://HOST:PORT and udp://HOST:PORT (a message of --size bytes, an answer of
--reply bytes), http:// and https:// (HTTP/1.1; HTTP/2 with --http2),
grpc://HOST:PORT/PACKAGE.SERVICE/METHOD and grpcs:// (with --messages N in one request,
of methods that take a stream), redis:// and rediss://, postgres://USER@HOST/DATABASE,
dns://RESOLVER/NAME?type=A. Over HTTP/2 and gRPC one connection carries --streams N requests
at a time.

session:TARGET, as session:tcp://HOST:PORT, runs each connection as a session: it sends a
message in every --every and waits for the answer. snag reports how many sessions missed
--deadline, and how fast their delay grows, as measured and as predicted.

Media: rtp+udp://HOST:PORT sends RTP at a bit rate; rtmp://HOST/APP/STREAM plays a stream
with --players, and publishes an FLV file with --publishers.

Exit codes: 0 measured, 11 measured and not the service's figures, or not to the end (a sweep
or --until), 1 failed.`,
		Example: `  snag load http://127.0.0.1:8080/ --rate 1k
  snag load http://127.0.0.1:8080/ --rate 10..40k
  snag load http://127.0.0.1:8080/ --until 'p99 < 100ms'
  snag load tcp://127.0.0.1:9000 --rate 500 --size 100 --split 20,80 --nodelay=false
  snag load https://127.0.0.1:8443/ --http2 --streams 100 --conns 2 --rate 5k
  snag load grpc://127.0.0.1:9000/pkg.Service/Upload --data '{"n":1}' --messages 20
  snag load session:tcp://127.0.0.1:9000 --conns 200
  snag load tcp://127.0.0.1:9000 --like trace.txt --pid 4711 --fd 5
  snag load udp://127.0.0.1:9000 --pingpong --cpu 1
  snag load tcp://192.0.2.1:9000 --bandwidth 50Mbit --size 1400
  snag load rtp+udp://10.0.0.2:5004 --conns 10 --bitrate 4M
  snag load rtmp://127.0.0.1/live/cam1 --players 200`,
		Args: cli.UsageArgs(cobra.ExactArgs(1), "the service to load, as http://HOST:PORT/PATH or tcp://HOST:PORT"),
		RunE: func(cmd *cobra.Command, args []string) error { return runLoad(cmd, &f, args[0]) },
	}
	f.add(cmd)
	return cmd
}

func runLoad(cmd *cobra.Command, f *loadFlags, target string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := fits(cmd, mediaScheme(target)); err != nil {
		return err
	}
	if mediaScheme(target) != "" {
		return loadMedia(ctx, cmd, f, target)
	}
	a, err := f.read(ctx, cmd, target)
	if err != nil {
		return err
	}
	if err := mayAsk(ctx, a, f.consent(cmd)); err != nil {
		return err
	}
	switch {
	case a.bound != nil:
		return findLimit(ctx, cmd, f, a)
	case a.sweeps():
		return sweepRates(ctx, cmd, f, a)
	}
	var out loaded.Loaded
	if a.bits == 0 { // an empty server says nothing about a path
		if out.Null, err = load.Calibrate(ctx, a.plan); err != nil {
			return fmt.Errorf("measure a server of our own first: %w", err)
		}
	}
	if out.Result, err = runAndKeep(ctx, f.out, a.plan, out.Null); err != nil {
		return err
	}
	if f.hdr != "" {
		if err := writeHistogram(f.hdr, out.Result); err != nil {
			return err
		}
	}
	if err := show(cmd, f.json, out); err != nil {
		return err
	}
	if out.Result.Honest() != "" {
		return &cli.Exit{Code: cli.ExitCantTell}
	}
	return nil
}

type printed interface {
	Text(io.Writer)
	JSON(io.Writer) error
}

func show(cmd *cobra.Command, json bool, s printed) error {
	if json {
		return s.JSON(cmd.OutOrStdout())
	}
	s.Text(cmd.OutOrStdout())
	return nil
}

// writeHistogram writes the log that HdrHistogram's own tools read.
func writeHistogram(path string, r *load.Result) error {
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	defer w.Close()
	began := r.Began.UnixMilli()
	r.FromDue.SetStartTimeMs(began)
	r.FromDue.SetEndTimeMs(began + r.Took.Milliseconds())
	log := hdrhistogram.NewHistogramLogWriter(w)
	log.SetBaseTime(began)
	if err := errors.Join(log.OutputComment("latencies in nanoseconds since each request was due, of "+r.Plan.Target.Name), log.OutputLogFormatVersion(),
		log.OutputStartTime(began), log.OutputLegend(), log.OutputIntervalHistogram(r.FromDue)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return w.Close()
}
