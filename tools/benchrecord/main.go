// Command benchrecord measures snag record beside other recorders that run all the time
// (below, atop, sysstat, netdata, node_exporter with Prometheus, perf as a profiler, a capture
// with tshark, and gadgets of Inspektor Gadget): what each costs on the same host, and what each knows afterwards of
// ten incidents. It prints the tables of docs/record.md (cost) and docs/peers.md (incidents)
// in Markdown. What it measured and what the tools printed stays in a folder, from which the
// tables can be made again.
// It needs root, a network namespace of its own and what peers.sh fetches.
//
//	unshare --net bin/bench-record -snag bin/snag -lab bin/snag-lab
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"snag/tools/benchhost"
)

type options struct {
	part, out, snag, lab, peers  string
	rounds                       int
	window, warm, during         time.Duration
	onlyRecorders, onlyIncidents string
	recorders, incidents         *regexp.Regexp // compiled from those
}

func main() {
	var o options
	flag.StringVar(&o.part, "part", "all", "cost, incidents, all, or tables: those of the last run, without measuring")
	flag.StringVar(&o.out, "out", "bin/bench-record.d", "the folder for what was measured and what the tools printed")
	flag.StringVar(&o.snag, "snag", "bin/snag", "the snag to measure")
	flag.StringVar(&o.lab, "lab", "bin/snag-lab", "the program that the services of the incidents are in")
	flag.StringVar(&o.peers, "peers", benchhost.Peers("bench-record"), "where tools/benchrecord/peers.sh put the other recorders")
	flag.IntVar(&o.rounds, "rounds", 2, "how often the cost of each is measured; the table has the median")
	flag.DurationVar(&o.window, "for", time.Minute, "how long each is measured")
	flag.DurationVar(&o.warm, "warm", 20*time.Second, "how long each runs before it is measured")
	flag.DurationVar(&o.during, "during", 40*time.Second, "how long an incident lasts")
	flag.StringVar(&o.onlyRecorders, "only", "", "only the recorders whose name matches this regular expression")
	flag.StringVar(&o.onlyIncidents, "incident", "", "only the incidents whose name matches this regular expression")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "benchrecord:", err)
		os.Exit(1)
	}
}

func run(o *options) (err error) {
	for _, path := range []*string{&o.snag, &o.lab, &o.peers, &o.out} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if o.recorders, err = regexp.Compile(o.onlyRecorders); err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	if o.incidents, err = regexp.Compile(o.onlyIncidents); err != nil {
		return fmt.Errorf("read -incident: %w", err)
	}
	switch o.part {
	case "tables":
		_, cost := os.Stat(filepath.Join(o.out, costFile))
		_, answers := os.Stat(filepath.Join(o.out, answersFolder))
		// Where neither half is there, the error says how to measure.
		return printTables(o, cost == nil || answers != nil, answers == nil)
	case "cost", "incidents", "all":
	default:
		return fmt.Errorf("unknown part %q: give cost, incidents, all or tables", o.part)
	}
	// Recorders read the network of the namespace that they run in: in one together with the load and the
	// incidents, each of them sees all of it.
	if err := benchhost.OwnNamespace("bench-record"); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	load, err := startLoad()
	if err != nil {
		return fmt.Errorf("start the load: %w", err)
	}
	defer load.end()
	if o.part != "incidents" {
		if err := measureAll(ctx, o); err != nil {
			return err
		}
	}
	if o.part != "cost" {
		if err := makeIncidents(ctx, o); err != nil {
			return err
		}
	}
	return printTables(o, o.part != "incidents", o.part != "cost")
}

// printTables prints what is in the folder.
func printTables(o *options, cost, incidents bool) error {
	if cost {
		var r costReport
		if err := benchhost.ReadJSON(filepath.Join(o.out, costFile), "bench-record", &r); err != nil {
			return err
		}
		fmt.Println(costTable(&r))
	}
	if incidents {
		all, err := judgeAll(filepath.Join(o.out, answersFolder))
		if err != nil {
			return err
		}
		fmt.Println(incidentTable(all))
		return os.WriteFile(filepath.Join(o.out, "evidence.txt"), []byte(evidence(all)), 0o644)
	}
	return nil
}
