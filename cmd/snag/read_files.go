package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"snag/internal/cli"
	"snag/readers"
	"snag/readers/reader"
)

// filesToRead are the files that the arguments name: a pattern that the shell left
// alone stands for what it matches, and the name of strace -ff -o NAME for its
// files NAME.PID.
func filesToRead(args []string) (files []string, err error) {
	stdin := false
	for _, arg := range args {
		_, err := os.Lstat(arg)
		switch {
		case arg == reader.Stdin && stdin:
			return nil, cli.Usage("-: standard input can be read once")
		case arg == reader.Stdin && isTerminal(os.Stdin):
			return nil, cli.Usage("-: standard input is a terminal: pipe a file into it (zcat FILE | snag read -)")
		case arg == reader.Stdin:
			stdin = true
			files = append(files, arg)
		case err == nil:
			files = append(files, arg)
		default:
			more := matching(arg)
			if len(more) == 0 {
				more = []string{arg} // opening it says why not
			}
			files = append(files, more...)
		}
	}
	return files, nil
}

// matching are the files that a pattern matches, or those of a set of strace -ff by
// their threads.
func matching(arg string) []string {
	if strings.ContainsAny(arg, "*?[") {
		all, err := filepath.Glob(arg) // sorted
		if err != nil {
			return nil
		}
		return all
	}
	all, err := filepath.Glob(escapeGlob(arg) + ".[1-9]*")
	if err != nil {
		return nil
	}
	var set []string
	for _, path := range all {
		if n, err := strconv.Atoi(path[len(arg)+1:]); err == nil && n > 0 {
			set = append(set, path)
		}
	}
	sort.Slice(set, func(i, j int) bool {
		return len(set[i]) < len(set[j]) || len(set[i]) == len(set[j]) && set[i] < set[j]
	})
	return set
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

// formatsHelp lists what can be read, a line each.
func formatsHelp() string {
	var b strings.Builder
	for _, f := range readers.Formats {
		fmt.Fprintf(&b, "  %-13s  %s\n", f.Name, f.About)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
