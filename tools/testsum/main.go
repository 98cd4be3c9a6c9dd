// Command testsum reads `go test -json` on standard input and prints what a
// person needs: the output of what failed, the reason of every skip, a line a
// package, and the closing count. It exits 1 when anything failed.
//
// Live tests measure the machine that they run on, and a shared machine can take
// the CPU away for a second. So a test that failed is run once more, alone, after
// all others, and must pass then; that it needed it is printed and counted. More
// than [again] failed tests are not the machine's noise: none is run again.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sort"
	"strings"
)

// again is how many failed tests of one run may be tried a second time.
const again = 4

type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

func main() {
	output := map[string][]string{}
	var skips, broken []string
	var whole []test             // failed tests that hold all their failed subtests
	without := map[string]bool{} // packages that failed and have no failed test
	passed, failed, skipped := 0, 0, 0
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			fmt.Println(in.Text()) // the build's own words
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			output[key] = append(output[key], e.Output)
		case "pass":
			if e.Test != "" {
				passed++
			} else {
				fmt.Printf("ok    %-40s %6.1f s\n", e.Package, e.Elapsed)
			}
			delete(output, key)
		case "skip":
			if e.Test != "" {
				skipped++
				skips = append(skips, key+": "+reason(output[key]))
			}
		case "fail", "build-fail":
			if e.Test != "" {
				failed++
				without[e.Package] = false
				if !strings.Contains(e.Test, "/") {
					whole = append(whole, test{e.Package, e.Test})
				}
			} else {
				fmt.Printf("FAIL  %-40s %6.1f s\n", e.Package, e.Elapsed)
				if _, ok := without[e.Package]; !ok {
					without[e.Package] = true
				}
				broken = append(broken, e.Package)
			}
			fmt.Print(strings.Join(output[key], ""))
		}
	}
	sort.Strings(skips)
	for _, s := range skips {
		fmt.Println("skipped:", s)
	}
	died := 0 // a package that did not build, or ended without a verdict, has no failed test
	for _, p := range broken {
		if without[p] {
			died++
		}
	}
	second := 0
	if died == 0 && len(whole) > 0 && len(whole) <= again {
		for _, t := range whole {
			if t.passesAlone() {
				second++
			}
		}
		if second == len(whole) {
			failed = 0
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped", passed, failed+died, skipped)
	if second > 0 {
		fmt.Printf(", %d failed once and passed alone", second)
	}
	fmt.Println()
	if failed+died > 0 || passed == 0 {
		os.Exit(1)
	}
}

// A test is a top-level test of a package.
type test struct{ pkg, name string }

// passesAlone runs the test once more, with nothing beside it, and prints how it went.
func (t test) passesAlone() bool {
	// The names come from the test run itself, and no shell sees them.
	cmd := exec.Command("go", "test", "-count=1", "-timeout=10m", "-run=^"+regexp.QuoteMeta(t.name)+"$", t.pkg) //nolint:gosec
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "no tests to run") {
		fmt.Printf("FAILED TWICE: %s %s\n%s", t.pkg, t.name, out)
		return false
	}
	fmt.Printf("failed once, passed alone: %s %s\n", t.pkg, t.name)
	return true
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
