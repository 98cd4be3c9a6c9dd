// Command benchrecord measures snag record beside other recorders that run all the time
// (below, atop, sysstat, netdata, node_exporter with Prometheus, and perf as a profiler):
// what each costs on the same host, and what each knows afterwards of six incidents.
// It prints the tables of docs/record.md in Markdown and writes the raw numbers as JSON.
// It needs root and what tools/benchrecord/peers.sh fetches.
//
//	go run ./tools/benchrecord -snag bin/snag -lab bin/snag-lab
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// options of a run.
type options struct {
	snag, lab, peers string
	rounds           int
	window, warm     time.Duration
	during           time.Duration
	only             *regexp.Regexp
	incidents        *regexp.Regexp
}

func main() {
	if serveLoad() {
		return
	}
	var o options
	part := flag.String("part", "all", "cost, incidents or all")
	out := flag.String("json", "bin/bench-record.json", "where the raw numbers go")
	only := flag.String("only", "", "only the recorders whose name matches this regular expression")
	which := flag.String("incident", "", "only the incidents whose name matches this regular expression")
	flag.StringVar(&o.snag, "snag", "bin/snag", "the snag to measure")
	flag.StringVar(&o.lab, "lab", "bin/snag-lab", "the program that the actors of incidents are in")
	flag.StringVar(&o.peers, "peers", peersFolder(), "where tools/benchrecord/peers.sh put the other recorders")
	flag.IntVar(&o.rounds, "rounds", 2, "how often the cost of each is measured; the median counts")
	flag.DurationVar(&o.window, "for", time.Minute, "how long each is measured")
	flag.DurationVar(&o.warm, "warm", 20*time.Second, "how long each runs before it is measured")
	flag.DurationVar(&o.during, "during", 40*time.Second, "how long an incident lasts")
	flag.Parse()
	if err := run(&o, *part, *out, *only, *which); err != nil {
		fmt.Fprintln(os.Stderr, "benchrecord:", err)
		os.Exit(1)
	}
}

func run(o *options, part, out, only, which string) (err error) {
	if part != "cost" && part != "incidents" && part != "all" {
		return fmt.Errorf("unknown part %q: cost, incidents or all", part)
	}
	for _, path := range []*string{&o.snag, &o.lab, &o.peers} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if o.only, err = regexp.Compile(only); err != nil {
		return err
	}
	if o.incidents, err = regexp.Compile(which); err != nil {
		return err
	}
	inside, err := ownNetwork()
	if err != nil || !inside {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	load, err := startLoad()
	if err != nil {
		return err
	}
	defer load.end()
	r := report{Machine: machine(), Began: time.Now(), Versions: versions(o)}
	// What was measured so far is kept, whatever fails later.
	defer func() {
		if e := r.write(out); err == nil {
			err = e
		}
	}()
	if part != "incidents" {
		if err := r.cost(ctx, o); err != nil {
			return err
		}
		fmt.Print(costTable(&r))
	}
	if part != "cost" {
		if err := r.incidents(ctx, o); err != nil {
			return err
		}
		fmt.Print(incidentTable(&r))
	}
	return nil
}

// report is the JSON document.
type report struct {
	Machine   string            `json:"machine"`
	Began     time.Time         `json:"began"`
	Versions  map[string]string `json:"versions"`
	Cost      []cost            `json:"cost,omitempty"`
	Incidents []incidentResult  `json:"incidents,omitempty"`
}

func (r *report) write(path string) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

func peersFolder() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "."
	}
	return filepath.Join(cache, "snag", "bench-record")
}
