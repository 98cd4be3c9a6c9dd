// Command unitcheck judges what the machine of tools/vm/unit.sh printed: one line for each
// claim of docs/record.md about the recorder under systemd, with what was measured. It exits
// 1 if one does not hold.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// check is one claim. run returns what was measured, or why the claim does not hold.
type check struct {
	what string
	run  func() (measured string, err error)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: unitcheck FOLDER (that tools/vm/unit.sh leaves in .cache/vm/unit)")
		os.Exit(2)
	}
	first, second := life{filepath.Join(os.Args[1], "first")}, life{filepath.Join(os.Args[1], "second")}
	all := slices.Concat(started(first), incident(first), killed(first), suspended(first, "mem"), suspended(first, "freeze"), full(first), ordered(first), rebooted(first, second))
	if failed := judge(os.Stdout, all); failed > 0 {
		fmt.Fprintf(os.Stderr, "snag vm: unit: %d of %d do not hold\n", failed, len(all))
		os.Exit(1)
	}
	fmt.Printf("snag vm: unit: all %d hold\n", len(all))
}

// judge prints each claim and returns how many do not hold.
func judge(w io.Writer, all []check) (failed int) {
	for _, c := range all {
		measured, err := c.run()
		if err != nil {
			failed++
			fmt.Fprintf(w, "FAILED  %s: %v\n", c.what, err)
			continue
		}
		fmt.Fprintf(w, "ok      %s: %s\n", c.what, measured)
	}
	return failed
}
