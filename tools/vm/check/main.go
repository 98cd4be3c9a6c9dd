// Command check reads what snag said in the machines of tools/vm/run.sh, prints a
// table of kernel and measure, and exits 1 when something is not as docs/kernels.md
// says.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: check FOLDER… (those that tools/vm/run.sh leaves in .cache/vm/SUITE/out)")
		os.Exit(2)
	}
	schema, err := compile("report/verdict.schema.json")
	if err != nil {
		fmt.Fprintln(os.Stderr, "snag vm:", err)
		os.Exit(1)
	}
	var machines []*machine
	wrong := 0
	for _, dir := range os.Args[1:] {
		m, err := read(dir, schema)
		if err != nil {
			fmt.Fprintf(os.Stderr, "snag vm: %s: %v\n", dir, err)
			wrong++
			continue
		}
		machines = append(machines, m)
	}
	printTable(os.Stdout, machines)
	for _, m := range machines {
		for _, w := range m.wrong() {
			fmt.Fprintf(os.Stderr, "snag vm: %s: %s\n", m.release, w)
			wrong++
		}
	}
	if wrong > 0 {
		fmt.Fprintf(os.Stderr, "snag vm: %d not as expected\n", wrong)
		os.Exit(1)
	}
}
