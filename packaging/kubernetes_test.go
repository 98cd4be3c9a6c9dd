package packaging

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The capabilities that snag's messages ask for are those that the manifests grant and that docs/containers.md
// explains.
func TestCapabilities(t *testing.T) {
	want := namedInCode(t)
	page := text(t, "../docs/containers.md")
	lists := map[string][]string{
		"kubernetes/snag-record.yaml": found(text(t, "kubernetes/snag-record.yaml"), `(?m)^ +- ([A-Z][A-Z_]+)$`),
		"kubernetes/debug.yaml":       found(text(t, "kubernetes/debug.yaml"), `(?m)^ +- ([A-Z][A-Z_]+)$`),
		"the table of the page":       found(page, "(?m)^\\| `([A-Z_]+)` \\|"),
	}
	for i, line := range regexp.MustCompile(`(?m)^    sudo (?:docker|podman) run (?:.*\\\n)*.*`).FindAllString(page, -1) {
		lists["command "+string(rune('1'+i))+" of the page"] = found(line, `--cap-add=([A-Z_]+)`)
	}
	if len(lists) < 5 {
		t.Fatalf("the page lacks the commands of docker or podman: %v", lists)
	}
	for where, got := range lists {
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v, the messages of the code ask for %v", where, got, want)
		}
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// found are the first groups of all matches, sorted, each once.
func found(in, pattern string) []string {
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(in, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namedInCode are the capabilities in the texts of probes and of what they use, as "CAP_BPF" in a cure.
func namedInCode(t *testing.T) []string {
	t.Helper()
	var texts strings.Builder
	read := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				texts.WriteString(lit.Value + "\n")
			}
			return true
		})
		return nil
	}
	for _, dir := range []string{"../probes", "../internal"} {
		if err := filepath.WalkDir(dir, read); err != nil {
			t.Fatal(err)
		}
	}
	return found(texts.String(), `CAP_([A-Z][A-Z_]*[A-Z])`)
}
