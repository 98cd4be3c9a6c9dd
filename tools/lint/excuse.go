package main

import (
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// excuse has an analyzer say nothing of generated files, and of lines that ask for it by
// //nolint:NAME in themselves or above.
func excuse(a *analysis.Analyzer, name string) {
	run := a.Run
	a.Run = func(pass *analysis.Pass) (any, error) {
		p := *pass
		p.Report = func(d analysis.Diagnostic) {
			if !excused(pass, d, name) {
				d.Message += " (" + name + ")"
				pass.Report(d)
			}
		}
		return run(&p)
	}
}

func excused(pass *analysis.Pass, d analysis.Diagnostic, name string) bool {
	line := pass.Fset.Position(d.Pos).Line
	for _, f := range pass.Files {
		if f.FileStart > d.Pos || d.Pos > f.FileEnd {
			continue
		}
		if ast.IsGenerated(f) {
			return true
		}
		for _, group := range f.Comments {
			for _, c := range group.List {
				at := pass.Fset.Position(c.Pos()).Line
				if (at == line || at == line-1) && names(c.Text, name) {
					return true
				}
			}
		}
	}
	return false
}

// names reports whether a comment is a nolint for that name.
func names(comment, name string) bool {
	list, ok := strings.CutPrefix(comment, "//nolint:")
	if !ok {
		return false
	}
	list, _, _ = strings.Cut(list, " ")
	return slices.Contains(strings.Split(list, ","), name)
}
