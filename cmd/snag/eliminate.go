package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/load/elimination"
	"snag/report/loaded"
)

type eliminateFlags struct {
	loadFlags
	slow, within time.Duration
	all, here    bool
	server       string
	out          string
}

func eliminateCommand() *cobra.Command {
	var f eliminateFlags
	cmd := &cobra.Command{
		Use:   "eliminate TARGET",
		Short: "Rule out, one experiment after the other, why a service is slow",
		Long: `Rule out, one experiment after the other, why a service is slow. It tests:
  before the request  this host, DNS, an address that does not answer
  the path            its length, losses and MTU
  the connection      listen queue, TLS, new connections, Nagle's algorithm
  the service         the handler, its pool of workers
  over UDP            a closed port, large datagrams, fragments, the receive buffer
A suspect is ruled out by a measurement that would have shown it. It stops at the first
experiment that finds one, unless --all is given.

It runs on a client. If the service is as slow on the server itself, the path is ruled
out: run it there with --here --json, and give the output to --server on the client.

Targets and the flags of a request are those of snag load. It needs no root; only ICMP echo
may need it. Exit codes: 0 nothing slow, 10 a suspect found, 11 slow and none found,
1 failed, 2 usage.`,
		Example: `  snag eliminate http://api.example.org/orders
  snag eliminate redis://cache:6379 --data 'GET user:1' --all
  snag eliminate udp://10.0.0.2:9000 --size 200
  snag eliminate http://api.example.org/orders --all --out orders.snag && snag judge orders.snag
  snag eliminate http://127.0.0.1:8080/orders --here --json > server.json   (on the server)
  snag eliminate http://api.example.org/orders --server server.json`,
		Args: cli.UsageArgs(cobra.ExactArgs(1), "the service to ask, as http://HOST:PORT/PATH or tcp://HOST:PORT"),
		RunE: func(cmd *cobra.Command, args []string) error { return runEliminate(cmd, &f, args[0]) },
	}
	f.register(cmd)
	return cmd
}

func runEliminate(cmd *cobra.Command, f *eliminateFlags, target string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := f.plan(ctx, cmd, target)
	if err != nil {
		return err
	}
	m, err := eliminateAndKeep(ctx, f.out, p, func(e elimination.Experiment) { fmt.Fprintf(cmd.ErrOrStderr(), "trying: %s\n", e.What) })
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
