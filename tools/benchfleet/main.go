// Command benchfleet measures what snag find --fleet costs by the number of hosts: a real Prometheus on loopback gets
// what a real recorder sent (testdata), with the labels of other hosts, addresses of their own and causes that go from
// edges to origins to databases. snag runs as a process, and each answer is checked. It prints Markdown. Machines are
// shared and noisy: read the CPU times.
//
//	go run ./tools/benchfleet -snag bin/snag -hosts 10,1000
//	sudo go run ./tools/benchfleet -capture tools/benchfleet/testdata/recorder.snappy
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"snag/tools/benchhost"
)

func main() {
	var p plan
	flag.StringVar(&p.snag, "snag", "bin/snag", "the binary to measure")
	flag.StringVar(&p.before, "before", "", "another snag, to run beside it")
	flag.StringVar(&p.lab, "lab", "bin/snag-lab", "with -capture: the lab")
	flag.StringVar(&p.prometheus, "prometheus", "/usr/bin/prometheus", "the store")
	flag.StringVar(&p.from, "from", "tools/benchfleet/testdata/recorder.snappy", "a write request of a recorder, which every host sends")
	flag.BoolVar(&p.thin, "thin", false, "hosts send services, dependencies and incidents only, so that a store has room for more of them")
	flag.IntVar(&p.rounds, "rounds", 3, "how often each is measured; the median counts")
	to := flag.String("capture", "", "make a new one: run snag record and an incident of the lab for 90 s (root)")
	incident := flag.String("incident", "listen-overflow", "with -capture: which")
	hosts := flag.String("hosts", "10,100,300,1000", "how many hosts there are, one row each")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var err error
	if *to != "" {
		err = capture(ctx, p.snag, p.lab, *incident, *to)
	} else if p.hosts, err = numbers(*hosts); err == nil {
		err = p.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchfleet:", err)
		os.Exit(1)
	}
}

func numbers(text string) (all []int, err error) {
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < groupOf || n%groupOf != 0 {
			return nil, fmt.Errorf("-hosts %q: %q is not a multiple of %d", text, word, groupOf)
		}
		all = append(all, n)
	}
	return all, nil
}

// plan is what is measured.
type plan struct {
	snag, before, lab, prometheus, from string
	hosts                               []int
	rounds                              int
	thin                                bool
}

func (p *plan) run(ctx context.Context) error {
	body, err := os.ReadFile(p.from)
	if err != nil {
		return fmt.Errorf("read what a recorder sent: %w (-capture makes it)", err)
	}
	captured, err := decode(body)
	if err != nil {
		return err
	}
	fmt.Printf("%s. A recorder sent %d series in %d bytes.\n\n", benchhost.Machine(), len(captured), len(body))
	fmt.Println(header)
	for _, n := range p.hosts {
		w, err := newWorld(captured, n)
		if err != nil {
			return err
		}
		if p.thin {
			w.keepThin()
		}
		if err := p.measure(ctx, w); err != nil {
			return fmt.Errorf("%d hosts: %w", n, err)
		}
	}
	return nil
}

// measure fills a store with one world and asks it.
func (p *plan) measure(ctx context.Context, w *world) error {
	s, err := startStore(ctx, p.prometheus)
	if err != nil {
		return err
	}
	defer s.end()
	at := time.Now().Truncate(time.Second)
	var times []int64
	for k := range 4 {
		times = append(times, at.Add(time.Duration(k-3)*15*time.Second).UnixMilli())
	}
	began := time.Now()
	if err := s.fill(ctx, w, times); err != nil {
		return err
	}
	perHost := len(w.of(1))
	now, _ := s.resident()
	filled := stored{hosts: w.hosts, series: perHost, seconds: time.Since(began).Seconds(), cpu: s.cpu(), resident: now}
	for _, snag := range []string{p.before, p.snag} {
		if snag == "" {
			continue
		}
		c, err := p.median(ctx, snag, w, s, at)
		if err != nil {
			return err
		}
		_, most := s.resident()
		fmt.Println(row(snag, filled, c, most))
	}
	return nil
}

func (p *plan) median(ctx context.Context, snag string, w *world, s *store, at time.Time) (cost, error) {
	out, err := counted(ctx, snag, w, s, at)
	if err != nil {
		return out, err
	}
	var wall, cpu, store, resident []float64
	for range p.rounds {
		c, err := find(ctx, snag, w, s, at, s.url)
		if err != nil {
			return out, err
		}
		wall, cpu, store, resident = append(wall, c.Wall), append(cpu, c.CPU), append(store, c.StoreCPU), append(resident, c.Resident)
	}
	out.Wall, out.CPU, out.StoreCPU, out.Resident = benchhost.Median(wall), benchhost.Median(cpu), benchhost.Median(store), benchhost.Median(resident)
	return out, nil
}
