package main

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/analysis"
)

// mostColumns is how wide a line of comment may be, with tabs of four columns. Code is as
// gofmt leaves it, and so is a comment behind it.
const mostColumns = 120

// commentColumns reports lines that are comment alone and wider than that.
var commentColumns = &analysis.Analyzer{
	Name: "columns", Doc: "comment lines of 120 columns at most",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, f := range pass.Files {
			file := pass.Fset.File(f.FileStart)
			text, err := pass.ReadFile(file.Name())
			if err != nil {
				return nil, err
			}
			for i, line := range strings.Split(string(text), "\n") {
				if n := columns(line); n > mostColumns && isComment(line) && i < file.LineCount() {
					pass.Reportf(file.LineStart(i+1), "a comment of %d columns: %d at most", n, mostColumns)
				}
			}
		}
		return nil, nil
	},
}

func columns(line string) int {
	return utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
}

// isComment reports whether a line holds nothing but a comment that may be broken: a
// directive (//go:build) and one long word, as an address, may not.
func isComment(line string) bool {
	text, found := strings.CutPrefix(strings.TrimLeft(line, "\t "), "// ")
	return found && strings.Contains(text, " ")
}
