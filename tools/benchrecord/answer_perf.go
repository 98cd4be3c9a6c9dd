package main

import (
	"regexp"
	"strings"
)

// A line of a report: "12.34%  program", or "12.34%  program  [.] function" and columns that
// this processor leaves empty.
var perfLine = regexp.MustCompile(`^\s+([0-9.]+)% +(\S.*?)(?: +\[[.k]\] +(\S+).*)?\s*$`)

// readPerf reads the reports by programs, and those by functions, one of each for a file.
func readPerf(all []section, _ span) (a answer, err error) {
	a.figures = figures{}
	files := map[string]bool{}
	for _, s := range all {
		files[s.command[strings.LastIndexByte(s.command, ' ')+1:]] = true
		for line := range strings.Lines(s.output) {
			m := perfLine.FindStringSubmatch(line)
			switch {
			case m == nil:
			case m[3] != "":
				a.figures.add("function of "+m[2]+" "+m[3], m[1])
			case m[2] == "swapper":
				a.figures.add("host idle samples", m[1])
			default:
				a.figures.add("process "+m[2]+" cpu samples", m[1])
			}
		}
	}
	a.figures.over(float64(len(files)))
	return a, nil
}
