package main

import (
	"encoding/json"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// forFacts reports whether go vet runs this program for nothing but the facts of a package that
// others import (unitchecker.Config.VetxOnly).
func forFacts(args []string) bool {
	if len(args) == 0 || !strings.HasSuffix(args[len(args)-1], ".cfg") {
		return false
	}
	var config struct{ VetxOnly bool }
	text, err := os.ReadFile(args[len(args)-1])
	return err == nil && json.Unmarshal(text, &config) == nil && config.VetxOnly
}

// factsOf are the analyzers among these, and those that they require, that export facts. For the
// rest unitchecker would run every rule that only reads facts over every imported package, and
// drop what it says.
func factsOf(all []*analysis.Analyzer) (out []*analysis.Analyzer) {
	seen := map[*analysis.Analyzer]bool{}
	var visit func(a *analysis.Analyzer)
	visit = func(a *analysis.Analyzer) {
		if seen[a] {
			return
		}
		seen[a] = true
		if len(a.FactTypes) > 0 {
			out = append(out, a)
		}
		for _, r := range a.Requires {
			visit(r)
		}
	}
	for _, a := range all {
		visit(a)
	}
	return out
}
