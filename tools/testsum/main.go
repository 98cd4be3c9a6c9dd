// Command testsum reads `go test -json` on standard input and prints what a
// person needs: the output of what failed, the reason of every skip, a line a
// package, and the closing count. It exits 1 when anything failed.
//
// Live tests measure the machine that they run on, and a shared machine can take
// the CPU away for a second. So a test that failed is run once more, alone, after
// all others. One that passes then is flaky: its failed run is kept whole in
// ~/.cache/snag/flakes, it is counted in the closing line, and above [budget] the run fails.
// More than [again] failed tests are not the machine's noise: none is run again.
//
// With -table it counts what that folder holds into docs/flakes.md instead.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
)

// again is how many failed tests of one run may be tried a second time.
const again = 4

// budget is how many flaky tests a run may have. A commit that nobody should merge
// often shows as a third test that fails at times, while the machine's noise seldom
// meets three tests of one run.
const budget = 2

func main() {
	table := flag.String("table", "", "write the table of the flaky tests into this page, and read no tests")
	flag.Parse()
	flakes, err := flakesFolder()
	if err == nil && *table != "" {
		err = writeTable(*table, flakes)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "count the flaky tests:", err)
		os.Exit(1)
	}
	if *table != "" {
		return
	}
	kept := newKeeper(flakes)
	r := read(os.Stdin, os.Stdout)
	r.tryAgain(os.Stdout, rerun, kept)
	line, ok := r.closing(flakes)
	kept.run(line)
	fmt.Println(line)
	if !ok {
		os.Exit(1)
	}
}

// results are what came of a run.
type results struct {
	passed, failed, skipped int
	died                    int    // packages that did not build, or ended without a verdict
	whole                   []test // failed tests, which hold all their failed subtests
	flaky                   int    // of those, the ones that passed alone
}

// A test is a top-level test of a package, with what it printed; without a name all of
// the package's.
type test struct {
	pkg, name string
	output    []string
}

type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

// read reads events to their end, and prints what a person needs of them.
func read(from io.Reader, to io.Writer) *results {
	r := &results{}
	output := map[string][]string{} // of each test and subtest
	all := map[string][]string{}    // of each top-level test, its subtests' among it
	var skips, broken []string
	without := map[string]bool{} // packages that failed and have no failed test
	crashed := map[string]bool{} // packages that ended in a panic: tests after it did not run
	in := bufio.NewScanner(from)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			fmt.Fprintln(to, in.Text()) // the build's own words
			continue
		}
		key := e.Package + " " + e.Test
		name, _, sub := strings.Cut(e.Test, "/")
		top := e.Package + " " + name
		switch e.Action {
		case "output", "build-output":
			output[key] = append(output[key], e.Output)
			all[top] = append(all[top], e.Output)
			if strings.HasPrefix(e.Output, "panic: ") || strings.HasPrefix(e.Output, "fatal error: ") {
				crashed[e.Package] = true
			}
		case "pass":
			if e.Test != "" {
				r.passed++
			} else {
				fmt.Fprintf(to, "ok    %-40s %6.1f s\n", e.Package, e.Elapsed)
			}
			delete(output, key)
			if !sub {
				delete(all, top)
			}
		case "skip":
			if e.Test != "" {
				r.skipped++
				skips = append(skips, key+": "+reason(output[key]))
			}
		case "fail", "build-fail":
			if e.Test != "" {
				r.failed++
				without[e.Package] = false
				if !sub {
					r.whole = append(r.whole, test{e.Package, e.Test, all[top]})
				}
			} else {
				fmt.Fprintf(to, "FAIL  %-40s %6.1f s\n", e.Package, e.Elapsed)
				if _, ok := without[e.Package]; !ok {
					without[e.Package] = true
				}
				broken = append(broken, e.Package)
			}
			fmt.Fprint(to, strings.Join(output[key], ""))
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(to, "read the tests' events:", err)
		r.died++
	}
	r.whole = perPackage(r.whole, crashed)
	sort.Strings(skips)
	for _, s := range skips {
		fmt.Fprintln(to, "skipped:", s)
	}
	for _, p := range broken {
		if without[p] {
			r.died++
		}
	}
	return r
}

// perPackage makes one test of all that failed in a package that crashed: a second run
// of the failed ones would leave out those that the crash kept from running.
func perPackage(failed []test, crashed map[string]bool) (out []test) {
	at := map[string]int{}
	for _, t := range failed {
		i, ok := at[t.pkg]
		switch {
		case !crashed[t.pkg]:
			out = append(out, t)
		case ok:
			out[i].output = append(out[i].output, t.output...)
		default:
			at[t.pkg] = len(out)
			out = append(out, test{t.pkg, "", t.output})
		}
	}
	return out
}

// closing is the last line, and whether the run passed.
func (r *results) closing(flakes string) (line string, ok bool) {
	line = fmt.Sprintf("%d passed, %d failed, %d skipped", r.passed, r.failed+r.died, r.skipped)
	if r.flaky > 0 {
		line += fmt.Sprintf(", %d flaky (failed once, passed alone; kept in %s)", r.flaky, flakes)
	}
	if r.flaky > budget {
		return line + fmt.Sprintf(": more than the %d that a run may have", budget), false
	}
	return line, r.failed+r.died == 0 && r.passed > 0
}

// reason is what the test said when it skipped.
func reason(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		l := strings.TrimSpace(lines[i])
		if l != "" && !strings.HasPrefix(l, "---") && !strings.HasPrefix(l, "===") {
			return l
		}
	}
	return "no reason given"
}
