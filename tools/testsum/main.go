// Command testsum reads `go test -json` on standard input and prints what a
// person needs: the output of what failed, the reason of every skip, a line a
// package, and the closing count. It exits 1 when anything failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
)

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
			} else {
				fmt.Printf("FAIL  %-40s %6.1f s\n", e.Package, e.Elapsed)
				broken = append(broken, e.Package)
			}
			fmt.Print(strings.Join(output[key], ""))
		}
	}
	sort.Strings(skips)
	for _, s := range skips {
		fmt.Println("skipped:", s)
	}
	if failed == 0 {
		failed = len(broken) // a package that did not build or died has no failed test
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
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
