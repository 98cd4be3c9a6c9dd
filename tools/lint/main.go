// Command lint is what make lint has go vet run: the rules of go vet itself, staticcheck,
// revive, errorlint, ineffassign, misspell, unused code, and which folder may import which
// (layers.yml). As a tool of go vet it looks only at what has changed.
//
// A line with //nolint:NAME, or the line below it, is excused from the rules of that name;
// what comes after the name says why.
package main

import (
	"os"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	var all []*analysis.Analyzer
	for _, group := range []struct {
		name      string
		analyzers []*analysis.Analyzer
	}{
		{"govet", govet},
		{"staticcheck", static()},
		{"revive", []*analysis.Analyzer{revive()}},
		{"errorlint", []*analysis.Analyzer{errorLint()}},
		{"ineffassign", []*analysis.Analyzer{ineffAssign}},
		{"misspell", []*analysis.Analyzer{misspelled()}},
		{"unused", []*analysis.Analyzer{unusedCode}},
		{"columns", []*analysis.Analyzer{commentColumns}},
		{"layers", []*analysis.Analyzer{layers()}},
	} {
		for _, a := range group.analyzers {
			excuse(a, group.name)
			all = append(all, a)
		}
	}
	if forFacts(os.Args[1:]) {
		all = factsOf(all)
	}
	unitchecker.Main(all...)
}
