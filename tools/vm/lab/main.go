// Command lab runs the lab's incidents that need a machine of their own, each in its
// three variants, in virtual machines with Debian's kernels under software emulation,
// prints one table, and exits 1 when one is not right. Those that need the same kind
// of machine share a boot. It is to be started at the root of the tree, after make
// build; kernels, consoles, results and recordings stay in .cache/vm.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/all"
)

func main() {
	length := flag.Duration("for", 10*time.Second, "how long snag find records")
	only := flag.String("only", "", "only these incidents, NAME,…; also such as need no machine of their own")
	suite := flag.String("suite", "", "boot the kernel of this Debian release, whatever the incidents ask for")
	record := flag.String("record", "", "copy the recordings of all that was right into this folder")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *length, *only, *suite, *record); err != nil {
		fmt.Fprintln(os.Stderr, "snag vm:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, length time.Duration, only, suite, record string) error {
	list, err := chosen(all.Incidents, only)
	if err != nil {
		return err
	}
	var tally lab.Tally
	var truths []string
	for _, b := range plan(list, suite) {
		fmt.Fprintf(os.Stderr, "snag vm: %s: %s\n", b.name(), strings.Join(b.names(), ", "))
		begin := time.Now()
		got, err := b.run(ctx, length)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "snag vm: %s took %v; what it said is in %s\n", b.name(), time.Since(begin).Round(time.Second), b.dir())
		for _, r := range got.results {
			lab.PrintResult(os.Stdout, r)
			tally.Add(r)
		}
		truths = append(truths, got.untrue...)
		if record != "" {
			if err := copyRight(got, record); err != nil {
				return err
			}
		}
	}
	tally.Print(os.Stdout)
	for _, t := range truths {
		fmt.Println(t)
	}
	if err := tally.Err(); err != nil {
		return err
	}
	if len(truths) > 0 {
		return fmt.Errorf("%d incidents are not what they say they are", len(truths))
	}
	return nil
}

// chosen returns the incidents of those names; without a name all that need a
// machine of their own.
func chosen(list []lab.Incident, only string) (out []lab.Incident, err error) {
	if only == "" {
		for _, inc := range list {
			if inc.VM != nil {
				out = append(out, inc)
			}
		}
		return out, nil
	}
	for _, name := range strings.Split(only, ",") {
		inc, err := lab.Find(list, name)
		if err != nil {
			return nil, err
		}
		out = append(out, inc)
	}
	return out, nil
}
