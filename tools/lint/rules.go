package main

import (
	_ "embed"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"github.com/OpenPeeDeeP/depguard/v2"
	"github.com/golangci/misspell"
	"github.com/gordonklaus/ineffassign/pkg/ineffassign"
	reviveconfig "github.com/mgechev/revive/config"
	"github.com/mgechev/revive/lint"
	"golang.org/x/tools/go/analysis"
	"gopkg.in/yaml.v3"
	"honnef.co/go/tools/quickfix"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

//go:embed layers.yml
var layersYAML []byte

// must is for what this program has built in.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// layers holds which folder may import which.
func layers() *analysis.Analyzer {
	var rules depguard.LinterSettings
	if err := yaml.Unmarshal(layersYAML, &rules); err != nil {
		panic(fmt.Errorf("read layers.yml: %w", err))
	}
	return must(depguard.NewAnalyzer(&rules))
}

var ineffAssign = ineffassign.Analyzer

func errorLint() *analysis.Analyzer {
	a := errorlint.NewAnalyzer()
	for _, flag := range []string{"errorf", "errorf-multi", "asserts", "comparison"} {
		if err := a.Flags.Set(flag, "true"); err != nil {
			panic(err)
		}
	}
	return a
}

// notOurs are rules of staticcheck's style that revive has as well, or that are not its
// default.
var notOurs = []string{"ST1000", "ST1003", "ST1016", "ST1020", "ST1021", "ST1022"}

func static() (out []*analysis.Analyzer) {
	for _, a := range slices.Concat(staticcheck.Analyzers, stylecheck.Analyzers, simple.Analyzers, quickfix.Analyzers) {
		if !slices.Contains(notOurs, a.Analyzer.Name) {
			out = append(out, a.Analyzer)
		}
	}
	return out
}

// reviveRules are those of revive.
var reviveRules = []string{"exported", "package-comments", "var-naming", "receiver-naming", "error-naming", "error-strings", "dot-imports", "blank-imports"}

// surely is the least confidence of revive that counts.
const surely = 0.8

func revive() *analysis.Analyzer {
	config := reviveconfig.Default()
	config.Rules = lint.RulesConfig{}
	for _, name := range reviveRules {
		config.Rules[name] = lint.RuleConfig{}
	}
	rules := must(reviveconfig.GetLintingRules(config, nil))
	return &analysis.Analyzer{Name: "revive", Doc: "documented and well named, as Go's own style has it", Run: func(pass *analysis.Pass) (any, error) {
		linter := lint.New(os.ReadFile, 64)
		var files []string
		at := map[string]*token.File{}
		for _, f := range pass.Files {
			file := pass.Fset.File(f.FileStart)
			files = append(files, file.Name())
			at[file.Name()] = file
		}
		failures, err := linter.Lint([][]string{files}, rules, *config)
		if err != nil {
			return nil, err
		}
		for f := range failures {
			file := at[f.Position.Start.Filename]
			// One comment stands over all methods Table of the recording's rows.
			if f.Confidence < surely || file == nil || f.RuleName == "exported" && strings.Contains(f.Failure, ".Table ") {
				continue
			}
			pass.Reportf(file.LineStart(f.Position.Start.Line), "%s: %s", f.RuleName, f.Failure)
		}
		return nil, nil
	}}
}

func misspelled() *analysis.Analyzer {
	words := &misspell.Replacer{Replacements: misspell.DictMain}
	words.RemoveRule([]string{"mosquitto"}) // a broker's name
	words.Compile()
	return &analysis.Analyzer{Name: "misspell", Doc: "words that are often misspelled", Run: func(pass *analysis.Pass) (any, error) {
		for _, f := range pass.Files {
			file := pass.Fset.File(f.FileStart)
			text, err := pass.ReadFile(file.Name())
			if err != nil {
				return nil, err
			}
			_, diffs := words.Replace(string(text))
			for _, d := range diffs {
				pass.Reportf(file.LineStart(d.Line), "%q is a misspelling of %q", d.Original, d.Corrected)
			}
		}
		return nil, nil
	}}
}

// unusedCode reports what nothing uses. go vet looks at a package twice where it has tests:
// what its tests use is seen in the second look only, so that the first one says nothing.
var unusedCode = &analysis.Analyzer{
	Name: "unused", Doc: unused.Analyzer.Analyzer.Doc, Requires: []*analysis.Analyzer{unused.Analyzer.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		if looksAgainWithTests(pass) {
			return nil, nil
		}
		result := pass.ResultOf[unused.Analyzer.Analyzer].(unused.Result)
		type object struct {
			file, name string
			line       int
		}
		used := map[object]bool{}
		for _, u := range result.Used {
			used[object{u.Position.Filename, u.Name, u.Position.Line}] = true
		}
		for _, u := range result.Unused {
			if u.Kind == "type param" || used[object{u.Position.Filename, u.Name, u.Position.Line}] {
				continue
			}
			pass.Fset.Iterate(func(f *token.File) bool {
				if f.Name() != u.Position.Filename {
					return true
				}
				pass.Reportf(f.LineStart(u.Position.Line), "%s %s is unused", u.Kind, u.Name)
				return false
			})
		}
		return nil, nil
	},
}

func looksAgainWithTests(pass *analysis.Pass) bool {
	if len(pass.Files) == 0 {
		return false
	}
	dir := filepath.Dir(pass.Fset.File(pass.Files[0].FileStart).Name())
	for _, f := range pass.Files {
		if strings.HasSuffix(pass.Fset.File(f.FileStart).Name(), "_test.go") {
			return false
		}
	}
	tests, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	for _, t := range tests {
		f, err := parser.ParseFile(token.NewFileSet(), t, nil, parser.PackageClauseOnly)
		if err == nil && f.Name.Name == pass.Pkg.Name() {
			return true
		}
	}
	return false
}
