package exporter

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each floor that names a file of suspects/ has the value that the constant has there.
func TestFloorsAreThoseOfSuspects(t *testing.T) {
	text, err := os.ReadFile("floors.go")
	if err != nil {
		t.Fatal(err)
	}
	ours := constantsOf(t, "floors.go")
	line := regexp.MustCompile(`(?m)^\t(\w+) += \S+ +// (suspects/\S+\.go)(?:, ([A-Z]\w+))?`)
	found := line.FindAllStringSubmatch(string(text), -1)
	if len(found) != 18 {
		t.Errorf("%d floors with a source", len(found))
	}
	for _, m := range found {
		name := m[1]
		if m[3] != "" {
			name = m[3]
		}
		theirs := constantsOf(t, filepath.Join("../..", m[2]))
		if ours[m[1]] == "" || ours[m[1]] != theirs[name] {
			t.Errorf("%s is %q here and %q in %s", name, ours[m[1]], theirs[name], m[2])
		}
	}
}

// constantsOf are the constants of a file that are numbers, as exact values.
func constantsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		for i := 0; ok && i < len(spec.Names) && i < len(spec.Values); i++ {
			v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, strings.TrimSpace(types.ExprString(spec.Values[i])))
			if err == nil && v.Value != nil {
				out[spec.Names[i].Name] = constant.ToFloat(v.Value).ExactString()
			}
		}
		return true
	})
	return out
}

// docs/fleet.md has each sign.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if !regexp.MustCompile(`(?m)^\| .*` + "`" + c.name + "`").Match(text) {
			t.Errorf("no row of %s", c.name)
		}
	}
}
